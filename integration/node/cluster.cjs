// The cluster modes of ioredis and node-redis: node cluster.cjs HOST:PORT... Each path prints a line
// when it has passed. The first that fails ends the process with its error.
'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const IORedis = require('ioredis');
const { createCluster } = require('redis');

const addrs = process.argv.slice(2).map((a) => {
  const [host, port] = a.split(':');
  return { host, port: Number(port) };
});
const many = Array.from({ length: 200 }, (_, i) => `key${i}`);

// ioredis: commands for all slots, a pipeline and a transaction in one, reads from replicas.
async function ioredis() {
  const c = new IORedis.Cluster(addrs);
  await Promise.all(many.map((key) => c.set(`io:${key}`, key)));
  assert.deepEqual(await Promise.all(many.map((key) => c.get(`io:${key}`))), many);
  assert.equal(c.nodes('master').length, 3);
  assert.equal(c.nodes('slave').length, 3);
  const sizes = await Promise.all(c.nodes('master').map((n) => n.dbsize()));
  assert.ok(sizes.every((n) => n > 0), `${sizes}`);
  assert.deepEqual(await c.pipeline().incr('{io}n').incr('{io}n').get('{io}n').exec(),
    [[null, 1], [null, 2], [null, '2']]);
  assert.deepEqual(await c.multi().incr('{io}n').del('{io}n').exec(), [[null, 3], [null, 1]]);
  await assert.rejects(c.mset('io:a', 1, 'io:b', 2), /CROSSSLOT/);
  await assert.rejects(c.pipeline().get('io:a').get('io:b').exec(), /slot/);
  await c.wait(1, 0);
  await Promise.all(many.map((key) => c.del(`io:${key}`)));
  c.disconnect();
}

// ioredisReplicas: reads go to replicas once they have what was written.
async function ioredisReplicas() {
  const c = new IORedis.Cluster(addrs, { scaleReads: 'slave' });
  await c.set('io:replica', 'v');
  while (await c.get('io:replica') !== 'v') await new Promise(setImmediate);
  await c.del('io:replica');
  c.disconnect();
}

// ioredisChannels: messages to all nodes, and to those of a shard.
async function ioredisChannels() {
  const sub = new IORedis.Cluster(addrs, { shardedSubscribers: true });
  const pub = new IORedis.Cluster(addrs);
  await sub.subscribe('io:all');
  let message = once(sub, 'message');
  await pub.publish('io:all', 'hello');
  assert.deepEqual(await message, ['io:all', 'hello']);
  message = once(sub, 'smessage');
  await sub.ssubscribe('io:shard');
  await pub.spublish('io:shard', 'hello');
  assert.deepEqual((await message).slice(0, 2), ['io:shard', 'hello']);
  sub.disconnect();
  pub.disconnect();
}

// nodeRedis: the same with the other library, which finds out about replicas too.
async function nodeRedis() {
  const rootNodes = addrs.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
  const c = createCluster({ rootNodes, useReplicas: true });
  c.on('error', () => {});
  await c.connect();
  assert.equal(c.masters.length, 3);
  assert.equal(c.replicas.length, 3);
  await Promise.all(many.map((key) => c.set(`node:${key}`, key)));
  for (const key of many) {
    while (await c.get(`node:${key}`) !== key) await new Promise(setImmediate);
  }
  assert.deepEqual(await c.multi().incr('{node}n').incr('{node}n').del('{node}n').exec(), [1, 2, 1]);
  await assert.rejects(c.rename('node:a', 'node:b'), /CROSSSLOT/);
  await Promise.all(many.map((key) => c.del(`node:${key}`)));
  await c.close();
}

// nodeRedisChannels: messages to all nodes, and to those of a shard.
async function nodeRedisChannels() {
  const c = createCluster({ rootNodes: addrs.map(({ host, port }) =>
    ({ url: `redis://${host}:${port}` })) });
  c.on('error', () => {});
  await c.connect();
  const all = new Promise((resolve) => { c.subscribe('node:all', resolve).then(() =>
    c.publish('node:all', 'hello')); });
  assert.equal(await all, 'hello');
  const shard = new Promise((resolve) => { c.sSubscribe('node:shard', resolve).then(() =>
    c.sPublish('node:shard', 'hello')); });
  assert.equal(await shard, 'hello');
  await c.sUnsubscribe('node:shard');
  await c.unsubscribe('node:all');
  c.destroy();
}

(async () => {
  for (const path of [ioredis, ioredisReplicas, ioredisChannels, nodeRedis, nodeRedisChannels]) {
    await path();
    console.log(`${path.name}: passed`);
  }
  process.exit(0);
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
