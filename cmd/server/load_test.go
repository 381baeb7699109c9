package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"godwit/internal/resp/respclient"
)

// BenchmarkLoad runs the whole server in this process under what redis-benchmark sends: SET, GET, INCR, MSET over a large key space, with pipelines and
// without. Its CPU profile is what the compiler optimises by: `make pgo` writes it to default.pgo.
func BenchmarkLoad(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	done := make(chan int, 1)
	go func() {
		done <- run([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--loglevel", "warning", "--dir", b.TempDir()})
	}()
	control := dial(b, "127.0.0.1:"+port)
	b.ResetTimer()
	var wg sync.WaitGroup
	const clients = 20
	for i := range clients {
		wg.Go(func() { drive(b, "127.0.0.1:"+port, uint64(i), b.N/clients+1) })
	}
	wg.Wait()
	b.StopTimer()
	control.Queue("SHUTDOWN", "NOSAVE")
	if err := control.Flush(); err != nil {
		b.Fatal(err)
	}
	if code := <-done; code != 0 {
		b.Errorf("exit code %d", code)
	}
}

func dial(b *testing.B, addr string) *respclient.Client {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := respclient.Dial("tcp", addr)
		if err == nil {
			return c
		}
		if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
}

// drive sends n commands, a third of them one by one.
func drive(b *testing.B, addr string, seed uint64, n int) {
	c := dial(b, addr)
	defer c.Close()
	rng := rand.New(rand.NewPCG(seed, 1))
	value := string(make([]byte, 64))
	for n > 0 {
		depth := 16
		if rng.IntN(12) == 0 {
			depth = 1
		}
		for range depth {
			key := fmt.Sprintf("key:%012d", rng.IntN(1_000_000))
			switch rng.IntN(10) {
			case 0:
				c.Queue("INCR", "counter:"+key)
			case 1:
				c.Queue("MSET", key, value, key+"b", value)
			case 2, 3, 4, 5:
				c.Queue("SET", key, value)
			default:
				c.Queue("GET", key)
			}
		}
		if err := c.Flush(); err != nil {
			b.Error(err)
			return
		}
		for range depth {
			if _, err := c.Receive(); err != nil {
				b.Error(err)
				return
			}
		}
		n -= depth
	}
}
