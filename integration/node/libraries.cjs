// Locks, limiters and queues of npm against a server: node libraries.cjs PORT. Each path prints a
// line when it has passed. The first that fails ends the process with its error.
'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const BeeQueue = require('bee-queue');
const Bottleneck = require('bottleneck');
const IORedis = require('ioredis').default;
const { Redlock } = require('@sesamecare-oss/redlock');
const { RedisStore } = require('rate-limit-redis');
const { RateLimiterRedis } = require('rate-limiter-flexible');

const connection = { host: '127.0.0.1', port: Number(process.argv[2]), maxRetriesPerRequest: null };
const hour = 3_600_000;

// redlock: a lock keeps others out, can be extended, and is let go once.
async function redlock(client) {
  const lock = new Redlock([client], { retryCount: 0 });
  const held = await lock.acquire(['lock:a', 'lock:b'], hour);
  await assert.rejects(lock.acquire(['lock:b'], hour));
  const longer = await held.extend(2 * hour);
  assert.ok(await client.pttl('lock:a') > hour);
  await longer.release();
  await assert.rejects(longer.release());
  assert.equal(await client.exists('lock:a', 'lock:b'), 0);
  const used = await lock.using(['lock:a'], hour, async () => client.exists('lock:a'));
  assert.equal(used, 1);
}

// flexible: a limiter counts what is consumed, blocks, gives back, and refuses.
async function flexible(client) {
  const limiter = new RateLimiterRedis(
    { storeClient: client, keyPrefix: 'flexible', points: 5, duration: 3600, blockDuration: 7200 });
  for (let left = 4; left >= 0; left--) {
    assert.equal((await limiter.consume('ann')).remainingPoints, left);
  }
  assert.equal((await limiter.reward('ann', 2)).remainingPoints, 2);
  const refused = await limiter.consume('ann', 3).then(() => assert.fail('taken'), (r) => r);
  assert.ok(refused.msBeforeNext > hour, 'it blocks');
  assert.equal((await limiter.consume('bob', 5)).remainingPoints, 0);
  assert.ok(await limiter.delete('ann'));
  assert.equal((await limiter.consume('ann')).remainingPoints, 4);
}

// store: hits are counted for a window; one can be taken back.
async function store(client) {
  const hits = new RedisStore({ sendCommand: (...args) => client.call(...args), prefix: 'store:' });
  await hits.init({ windowMs: hour });
  for (let n = 1; n <= 3; n++) {
    const { totalHits, resetTime } = await hits.increment('ann');
    assert.equal(totalHits, n);
    assert.ok(resetTime.getTime() > Date.now());
  }
  await hits.decrement('ann');
  assert.equal((await hits.get('ann')).totalHits, 2);
  await hits.resetKey('ann');
  assert.equal((await hits.increment('ann')).totalHits, 1);
}

// bottleneck: of many jobs no more than the reservoir run, and two at a time.
async function bottleneck() {
  const limiter = new Bottleneck({ id: 'bottleneck', datastore: 'ioredis', Redis: IORedis,
    clientOptions: connection, clearDatastore: true, maxConcurrent: 2, reservoir: 10 });
  await limiter.ready();
  let running = 0;
  let most = 0;
  const jobs = Array.from({ length: 10 }, () => limiter.schedule(async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  }));
  await Promise.all(jobs);
  assert.ok(most <= 2, `${most} at a time`);
  assert.equal(await limiter.currentReservoir(), 0);
  await limiter.incrementReservoir(1);
  assert.equal(await limiter.schedule(async () => 'done'), 'done');
  await limiter.disconnect(false);
}

// beeQueue: jobs are done once each; one that fails is tried again and then has failed.
async function beeQueue() {
  const queue = new BeeQueue('bee', { redis: connection, activateDelayedJobs: true });
  await queue.ready();
  const done = [];
  queue.process(3, async (job) => {
    if (job.data.fail) throw new Error('as asked');
    done.push(job.data.i);
  });
  const all = new Promise((resolve) => {
    let n = 0;
    queue.on('succeeded', () => { if (++n === 20) resolve(); });
  });
  await queue.saveAll(Array.from({ length: 20 }, (_, i) => queue.createJob({ i })));
  const failed = once(queue, 'failed');
  await queue.createJob({ fail: true }).retries(1).save();
  await Promise.all([all, failed]);
  assert.deepEqual(done.sort((a, b) => a - b), Array.from({ length: 20 }, (_, i) => i));
  const late = once(queue, 'succeeded');
  await queue.createJob({ i: 20 }).delayUntil(Date.now() + 50).save();
  await late;
  const { succeeded, failed: lost, active, waiting } = await queue.checkHealth();
  assert.deepEqual([succeeded, lost, active, waiting], [21, 1, 0, 0]);
  await queue.close();
}

async function main() {
  const client = new IORedis(connection);
  for (const path of [redlock, flexible, store, bottleneck, beeQueue]) {
    await path(client);
    console.log(`passed: ${path.name}`);
  }
  await client.quit();
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
