package engines
import ("testing";"os";"math/rand/v2";"godwit/internal/lua/luagen";"strings";"fmt";"time")
func TestTmp(t *testing.T){
 l,err:=NewLua51(); if err!=nil {t.Fatal(err)}
 defer l.Close()
 r:=rand.New(rand.NewPCG(5,0))
 b:=time.Now(); n:=3000; ok,bad:=0,0; size:=0; rs:=0; classes:=map[string]int{}
 for i:=range n { p:=luagen.Program(r); size+=len(p); x,_:=l.Run(p); rs+=len(x[0])
  if strings.HasPrefix(x[0],"compile")||strings.HasPrefix(x[0],"crash")||x[0]==Timeout { fmt.Println(i,x[0]); os.WriteFile("/tmp/bad.lua",[]byte(p),0o644); if strings.HasPrefix(x[0],"compile") {fmt.Println(p[1000:])}; t.Fatal() }
  for _,ln:=range strings.Split(x[0],"\n") { if strings.HasPrefix(ln,"true") {ok++}; if strings.HasPrefix(ln,"false \"user") {bad++; _,m,_:=strings.Cut(ln," \"user_script:"); _,m,_=strings.Cut(m,": "); if len(m)>50 {m=m[:50]}; classes[m]++ }}
 }
 fmt.Println(time.Since(b)/time.Duration(n), size/n, rs/n, ok,bad)
 for k,v:=range classes { if v>40 {fmt.Println(v,k)} }
}
