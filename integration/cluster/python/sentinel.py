"""Sentinel as redis-py knows it, with nodes of a cluster of one shard as Sentinels and servers:
python3 sentinel.py HOST:PORT... It ends servers. Each path prints a line when it has passed. The
first that fails ends the process with its error."""

import os
import signal
import sys
import time

from redis.exceptions import RedisError
from redis.sentinel import MasterNotFoundError, Sentinel

NODES = [tuple(a.split(":")) for a in sys.argv[1:]]
PATIENCE = 60


def until(what, condition):
    """Waits for a condition."""
    end = time.time() + PATIENCE
    while not condition():
        assert time.time() < end, what
        time.sleep(0.005)


class Writer:
    """Writes numbers to keys of their own, and remembers which were confirmed."""

    def __init__(self, client):
        self.client, self.n, self.confirmed = client, 0, []

    def write(self):
        """Returns whether a write was confirmed."""
        self.n += 1
        try:
            if not self.client.set("py:%d" % self.n, self.n):
                return False
        except RedisError:
            return False
        self.confirmed.append(self.n)
        return True

    def go_on(self, count=100):
        for _ in range(count):
            until("a write is confirmed", self.write)

    def check(self):
        for n in self.confirmed:
            assert self.client.get("py:%d" % n) == str(n), n


def commands(s):
    """What Sentinel's commands tell."""
    c = s.sentinels[0]
    m = c.sentinel_master("mymaster")
    assert m["is_master"] and not m["is_sdown"] and not m["is_odown"], m
    assert m["num-slaves"] == 2 and m["num-other-sentinels"] == 2 and m["quorum"] == 2, m
    assert c.sentinel_masters()["mymaster"]["port"] == m["port"]
    assert c.sentinel_get_master_addr_by_name("mymaster") == (m["ip"], m["port"])
    assert c.sentinel_get_master_addr_by_name("other") is None
    assert len(c.sentinel_slaves("mymaster")) == 2
    assert len(c.sentinel_sentinels("mymaster")) == 2
    assert s.sentinel_ckquorum("mymaster")
    assert len(s.discover_slaves("mymaster")) == 2
    try:
        s.discover_master("other")
        assert False, "no error"
    except MasterNotFoundError:
        pass


def replicas(s):
    """Reads from replicas, which take no writes."""
    s.master_for("mymaster").set("py:replica", "v")
    r = s.slave_for("mymaster")
    assert r.role()[0] == "slave"
    until("the replica has it", lambda: r.get("py:replica") == "v")
    try:
        r.set("py:replica", "w")
        assert False, "no error"
    except RedisError as e:
        assert "read only" in str(e), e


def request(s):
    """A replica takes over on request. The client goes on with it."""
    w = Writer(s.master_for("mymaster"))
    w.go_on()
    old = s.discover_master("mymaster")
    assert s.slave_for("mymaster").execute_command("CLUSTER FAILOVER")
    until("there is another master", lambda: s.discover_master("mymaster") != old)
    w.go_on()
    w.check()


def kill(s):
    """The master is killed. The client goes on with another one, which has all that was
    confirmed."""
    w = Writer(s.master_for("mymaster"))
    w.go_on()
    old = s.discover_master("mymaster")
    os.kill(w.client.info("server")["process_id"], signal.SIGKILL)
    w.go_on()
    assert s.discover_master("mymaster") != old
    until("the other replica follows", lambda: len(s.discover_slaves("mymaster")) == 1)
    w.check()


def main():
    s = Sentinel(NODES, socket_timeout=5, decode_responses=True,
                 sentinel_kwargs={"socket_timeout": 5, "decode_responses": True})
    for path in [commands, replicas, request, kill]:
        path(s)
        print(path.__name__ + ": passed")


main()
