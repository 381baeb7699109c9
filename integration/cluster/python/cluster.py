"""The cluster mode of redis-py: python3 cluster.py HOST:PORT... Each path prints a line when it has
passed. The first that fails ends the process with its error."""

import sys
import time

from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException

NODES = [ClusterNode(*a.split(":")) for a in sys.argv[1:]]
KEYS = ["py:%d" % i for i in range(200)]


def single(c):
    """Commands for all slots."""
    for key in KEYS:
        assert c.set(key, key)
    assert [c.get(key) for key in KEYS] == KEYS
    assert len(c.get_primaries()) == 3 and len(c.get_replicas()) == 3
    for node in c.get_primaries():
        assert c.dbsize(target_nodes=node) > 0
    try:
        c.mset({"py:a": 1, "py:b": 2})
        assert False, "no error"
    except RedisClusterException as e:
        assert "slot" in str(e), e


def pipeline(c):
    """A pipeline across slots."""
    with c.pipeline() as p:
        for key in KEYS:
            p.get(key)
        for key in KEYS:
            p.delete(key)
        replies = p.execute()
    assert replies == KEYS + [1] * len(KEYS), replies


def several(c):
    """Commands that the library splits by slot."""
    c.mset_nonatomic({"py:a": "1", "py:b": "2", "{py:a}c": "3"})
    assert c.mget_nonatomic("py:a", "py:b", "{py:a}c") == ["1", "2", "3"]
    assert c.delete("py:a", "py:b", "{py:a}c") == 3


def channels(c):
    """A message that is published on another node than the one with the subscriber."""
    p = c.pubsub()
    p.subscribe("py:all")
    while p.get_message(timeout=1) is None:
        pass
    for node in c.get_nodes():
        c.publish("py:all", node.name, target_nodes=node)
        m = None
        while m is None:
            m = p.get_message(timeout=1)
        assert m["data"] == node.name, m
    p.close()


def replicas(_):
    """Reads from replicas."""
    c = RedisCluster(startup_nodes=NODES, read_from_replicas=True, decode_responses=True)
    c.set("py:replica", "v")
    while c.get("py:replica") != "v":
        time.sleep(0.001)
    c.delete("py:replica")
    c.close()


def scripts(c):
    """A script, and an iteration over all nodes."""
    c.set("{py}n", 1)
    assert c.eval("return redis.call('INCRBY', KEYS[1], ARGV[1])", 1, "{py}n", 5) == 6
    assert "{py}n" in list(c.scan_iter("*py}n"))
    c.delete("{py}n")


def main():
    c = RedisCluster(startup_nodes=NODES, decode_responses=True)
    for path in [single, pipeline, several, channels, replicas, scripts]:
        path(c)
        print(path.__name__ + ": passed")


main()
