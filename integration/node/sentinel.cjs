// Sentinel as ioredis and node-redis know it, with nodes of a cluster of one shard as Sentinels and
// servers: node sentinel.cjs HOST:PORT... It ends servers. Each path prints a line when it has
// passed. The first that fails ends the process with its error.
'use strict';

const assert = require('node:assert/strict');
const IORedis = require('ioredis');
const { createSentinel } = require('redis');

const nodes = process.argv.slice(2).map((a) => {
  const [host, port] = a.split(':');
  return { host, port: Number(port) };
});
const patience = 60000;

// until waits for a condition. Errors are like a condition that does not hold yet.
async function until(what, condition) {
  const end = Date.now() + patience;
  let last;
  while (!await condition().catch((e) => { last = e; })) {
    assert.ok(Date.now() < end, `${what}, but: ${last}`);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
  }
}

// writer writes numbers to keys of their own, and remembers which were confirmed.
function writer(name, client) {
  let n = 0;
  const confirmed = [];
  return {
    async goOn(count = 100) {
      for (const upto = confirmed.length + count; confirmed.length < upto;) {
        await until(`${name}: a write is confirmed`, async () => {
          n++;
          assert.equal(await client.set(`${name}:${n}`, `${n}`), 'OK');
          confirmed.push(n);
          return true;
        });
      }
    },
    async check() {
      for (const i of confirmed) assert.equal(await client.get(`${name}:${i}`), `${i}`);
    },
  };
}

// ask asks the first node that answers.
async function ask(...args) {
  for (const node of nodes) {
    const c = new IORedis({ ...node, lazyConnect: true, retryStrategy: null });
    c.on('error', () => {});
    try {
      await c.connect();
      return await c.call(...args);
    } catch { /* the next one */ } finally {
      c.disconnect();
    }
  }
  throw new Error('no node answers');
}
const master = async () => (await ask('sentinel', 'get-master-addr-by-name', 'mymaster')).join(':');

function openIORedis(more) {
  const c = new IORedis({ sentinels: nodes, name: 'mymaster', ...more });
  c.on('error', () => {});
  return c;
}

async function openNodeRedis(more) {
  const c = createSentinel({ name: 'mymaster', sentinelRootNodes: nodes, ...more });
  c.on('error', () => {});
  await c.connect();
  return c;
}

// ioredis: the master and a replica.
async function ioredis() {
  const c = openIORedis();
  const r = openIORedis({ role: 'slave' });
  assert.equal((await c.role())[0], 'master');
  assert.equal((await r.role())[0], 'slave');
  await c.set('io:replica', 'v');
  await until('the replica has it', async () => await r.get('io:replica') === 'v');
  await assert.rejects(r.set('io:replica', 'w'), /READONLY/);
  c.disconnect();
  r.disconnect();
}

// nodeRedis: the same with one client.
async function nodeRedis() {
  const c = await openNodeRedis({ replicaPoolSize: 1, scanInterval: 1000 });
  await c.set('node:replica', 'v');
  await until('the replica has it', async () => await c.get('node:replica') === 'v');
  await c.close();
}

// during runs writers of both libraries while the master changes.
async function during(change) {
  const io = openIORedis();
  const node = await openNodeRedis({ scanInterval: 1000 });
  const writers = [writer('io', io), writer('node', node)];
  const all = (what) => Promise.all(writers.map((w) => w[what]()));
  await all('goOn');
  const old = await master();
  await change(old);
  await until('there is another master', async () => await master() !== old);
  await all('goOn');
  await all('check');
  io.disconnect();
  await node.close();
}

// request: a replica takes over on request.
async function request() {
  await during(async () => {
    const r = openIORedis({ role: 'slave' });
    assert.equal(await r.cluster('FAILOVER'), 'OK');
    r.disconnect();
  });
}

// kill: the master is killed. What it had confirmed is there.
async function kill() {
  await during(async (old) => {
    const [host, port] = old.split(':');
    const c = new IORedis({ host, port: Number(port) });
    const pid = Number(/process_id:(\d+)/.exec(await c.info('server'))[1]);
    c.disconnect();
    process.kill(pid, 'SIGKILL');
  });
}

(async () => {
  for (const path of [ioredis, nodeRedis, request, kill]) {
    await path();
    console.log(`${path.name}: passed`);
  }
  process.exit(0);
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
