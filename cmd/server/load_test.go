package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"godwit/internal/resp/client"
)

// BenchmarkLoad runs the whole server in this process under the load of redis-benchmark: mostly
// SET, GET, INCR and MSET over a large key space, then commands on collections, with pipelines and
// without. The compiler optimises by its CPU profile: `make pgo` writes it to default.pgo.
func BenchmarkLoad(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	done := make(chan int, 1)
	go func() {
		done <- run([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--loglevel",
			"warning", "--dir", b.TempDir()})
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

func dial(b *testing.B, addr string) *client.Client {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := client.Dial("tcp", addr)
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
			c.Queue(request(rng, key, value)...)
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

// request returns one of the commands that redis-benchmark sends.
func request(rng *rand.Rand, key, value string) []any {
	element := "element:" + key
	switch rng.IntN(24) {
	case 0:
		return []any{"INCR", "counter:" + key}
	case 1:
		return []any{"MSET", key, value, key + "b", value}
	case 2, 3, 4, 5, 6:
		return []any{"SET", key, value}
	case 7, 8:
		return []any{"LPUSH", "mylist", "abc"}
	case 9:
		return []any{"RPUSH", "mylist", "abc"}
	case 10:
		return []any{"LPOP", "mylist"}
	case 11:
		return []any{"RPOP", "mylist"}
	case 12:
		return []any{"SADD", "myset", element}
	case 13:
		return []any{"HSET", "myhash", element, "abc"}
	case 14:
		return []any{"SPOP", "myset"}
	case 15:
		return []any{"ZADD", "myzset", strconv.Itoa(rng.IntN(1_000_000)), element}
	case 16:
		return []any{"ZPOPMIN", "myzset"}
	case 17:
		return []any{"LRANGE", "mylist", "0", "29"}
	default:
		return []any{"GET", key}
	}
}
