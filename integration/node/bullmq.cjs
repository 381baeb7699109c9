// The common paths of BullMQ against a server: node paths.cjs PORT. Each path prints a line when it
// has passed. The first that fails ends the process with its error.
'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const IORedis = require('ioredis').default;
const { FlowProducer, Queue, QueueEvents, Worker, UnrecoverableError } = require('bullmq');

const connection = { host: '127.0.0.1', port: Number(process.argv[2]), maxRetriesPerRequest: null };
const patience = 60_000;

// eventually waits until cond holds.
async function eventually(what, cond) {
  for (const end = Date.now() + patience; !(await cond()); await sleep(5)) {
    assert.ok(Date.now() < end, `still waiting: ${what}`);
  }
}

// bench is a queue with all that belongs to it, for one path.
class Bench {
  constructor(name) {
    this.name = name;
    this.open = [];
    this.queue = this.keep(new Queue(name, { connection }));
    this.seen = []; // names of events
  }

  keep(one) {
    one.on('error', (err) => {
      console.error(`${this.name}: ${err.stack}`);
      process.exitCode = 1;
    });
    this.open.push(one);
    return one;
  }

  worker(process, opts = {}) {
    return this.keep(new Worker(this.name, process, { connection, ...opts }));
  }

  async events() {
    // From the beginning: what is added before it reads for the first time would pass unseen.
    const events = this.keep(new QueueEvents(this.name, { connection, lastEventId: '0-0' }));
    await events.waitUntilReady();
    for (const name of ['added', 'waiting', 'delayed', 'active', 'progress', 'completed', 'failed',
      'retries-exhausted', 'stalled', 'paused', 'resumed', 'removed', 'drained', 'deduplicated',
      'waiting-children', 'cleaned']) {
      events.on(name, (args) => this.seen.push([name, args]));
    }
    return events;
  }

  saw(name) {
    return this.seen.filter(([n]) => n === name).map(([, args]) => args);
  }

  async close() {
    for (const one of this.open.reverse()) await one.close();
  }
}

const paths = {
  async 'add, process, result'(b) {
    const events = await b.events();
    b.worker(async (job) => {
      await job.updateProgress(50);
      await job.log('half way');
      return { sum: job.data.a + job.data.b };
    });
    const job = await b.queue.add('sum', { a: 2, b: 3 });
    assert.deepEqual(await job.waitUntilFinished(events, patience), { sum: 5 });
    assert.equal(await job.getState(), 'completed');
    const stored = await b.queue.getJob(job.id);
    assert.deepEqual([stored.name, stored.data, stored.progress, stored.returnvalue],
      ['sum', { a: 2, b: 3 }, 50, { sum: 5 }]);
    assert.deepEqual((await b.queue.getJobLogs(job.id)).logs, ['half way']);
    await eventually('all events', () => b.saw('drained').length > 0);
    assert.deepEqual(b.seen.map(([name]) => name).filter((name) => name !== 'drained'),
      ['added', 'waiting', 'active', 'progress', 'completed']);
    assert.equal(b.saw('progress')[0].data, 50);
    assert.deepEqual(b.saw('completed')[0].returnvalue, { sum: 5 });
  },

  async 'delayed jobs'(b) {
    const done = [];
    const start = Date.now();
    await b.queue.add('late', {}, { delay: 400 });
    await b.queue.add('soon', {}, { delay: 150 });
    const promoted = await b.queue.add('promoted', {}, { delay: 3_600_000 });
    const moved = await b.queue.add('moved', {}, { delay: 3_600_000 });
    assert.equal(await b.queue.getDelayedCount(), 4);
    await moved.changeDelay(250);
    b.worker(async (job) => { done.push([job.name, Date.now() - start]); });
    await promoted.promote();
    await eventually('four jobs', () => done.length === 4);
    assert.deepEqual(done.map(([name]) => name).sort(), ['late', 'moved', 'promoted', 'soon']);
    for (const [name, after] of done) {
      if (name === 'late') assert.ok(after >= 395, `after ${after} ms`);
      if (name === 'soon') assert.ok(after >= 145, `after ${after} ms`);
    }
  },

  async 'job schedulers'(b) {
    const done = [];
    b.worker(async (job) => { done.push(job); });
    await b.queue.upsertJobScheduler('ticks', { every: 100 }, { name: 'tick', data: { n: 1 } });
    await eventually('ticks', () => done.length >= 3);
    assert.deepEqual([done[0].name, done[0].data], ['tick', { n: 1 }]);
    await b.queue.upsertJobScheduler('ticks', { every: 80 }, { name: 'tick', data: { n: 2 } });
    await eventually('ticks of the new kind', () => done.some((job) => job.data.n === 2));
    await b.queue.upsertJobScheduler('cron', { pattern: '* * * * * *' }, { name: 'cron' });
    await eventually('a job at a full second', () => done.some((job) => job.name === 'cron'));
    assert.equal(await b.queue.getJobSchedulersCount(), 2);
    assert.equal((await b.queue.getJobScheduler('cron')).pattern, '* * * * * *');
    assert.ok(await b.queue.removeJobScheduler('ticks'));
    assert.ok(await b.queue.removeJobScheduler('cron'));
    assert.deepEqual(await b.queue.getJobSchedulers(), []);
    await eventually('nothing is left', async () => (await b.queue.getDelayedCount()) === 0);
  },

  async 'priorities'(b) {
    for (const priority of [5, 1, 3, 2, 4]) {
      await b.queue.add(`p${priority}`, {}, { priority });
    }
    await b.queue.add('first', {}); // without a priority comes before all
    const last = await b.queue.add('p1', {}, { priority: 1 });
    await last.changePriority({ priority: 9 });
    assert.deepEqual(await b.queue.getCountsPerPriority([0, 1, 3, 9]), { 0: 1, 1: 1, 3: 1, 9: 1 });
    const done = [];
    b.worker(async (job) => { done.push(job.id === last.id ? 'last' : job.name); });
    await eventually('all jobs', () => done.length === 7);
    assert.deepEqual(done, ['first', 'p1', 'p2', 'p3', 'p4', 'p5', 'last']);
  },

  async 'retries with backoff'(b) {
    const events = await b.events();
    const tries = [];
    b.worker(async (job) => {
      tries.push(Date.now());
      if (job.attemptsMade < 3) throw new Error(`try ${job.attemptsMade}`);
      return 'at last';
    });
    const job = await b.queue.add('flaky', {},
      { attempts: 5, backoff: { type: 'exponential', delay: 40 } });
    assert.equal(await job.waitUntilFinished(events, patience), 'at last');
    assert.equal(tries.length, 4);
    for (const [i, delay] of [40, 80, 160].entries()) {
      assert.ok(tries[i + 1] - tries[i] >= delay - 5, `${tries[i + 1] - tries[i]} ms`);
    }
    assert.equal((await b.queue.getJob(job.id)).attemptsMade, 4);
    assert.equal(b.saw('delayed').length, 3);
  },

  async 'failed jobs'(b) {
    const events = await b.events();
    let healthy = false;
    b.worker(async (job) => {
      if (job.name === 'hopeless') throw new UnrecoverableError('never');
      if (!healthy) throw new Error('not now');
      return 'well';
    });
    const job = await b.queue.add('sick', { n: 1 }, { attempts: 2 });
    await assert.rejects(job.waitUntilFinished(events, patience), /not now/);
    const hopeless = await b.queue.add('hopeless', {}, { attempts: 10 });
    await assert.rejects(hopeless.waitUntilFinished(events, patience), /never/);
    const failed = await b.queue.getFailed();
    assert.deepEqual(failed.map((j) => [j.name, j.failedReason, j.attemptsMade]).sort(),
      [['hopeless', 'never', 1], ['sick', 'not now', 2]]);
    assert.ok(failed.every((j) => j.stacktrace.length > 0));
    assert.equal(b.saw('retries-exhausted').length, 1);
    await hopeless.remove();
    healthy = true;
    await (await b.queue.getJob(job.id)).retry();
    assert.equal(await job.waitUntilFinished(events, patience), 'well');
    assert.equal(await b.queue.getFailedCount(), 0);
  },

  async 'events from the beginning'(b) {
    b.worker(async () => 'done');
    for (let i = 0; i < 20; i++) await b.queue.add('job', { i });
    await eventually('all jobs', async () => (await b.queue.getCompletedCount()) === 20);
    const all = [];
    const events = b.keep(new QueueEvents(b.name, { connection, lastEventId: '0-0' }));
    events.on('completed', ({ jobId }, id) => all.push([jobId, id]));
    await eventually('events of the past', () => all.length === 20);
    const ids = all.map(([, id]) => id.split('-').map(Number));
    for (let i = 1; i < ids.length; i++) {
      assert.ok(ids[i][0] > ids[i - 1][0] || ids[i][1] > ids[i - 1][1], 'IDs ascend');
    }
    await b.queue.add('job', {});
    await eventually('an event of the present', () => all.length === 21);
    await b.queue.trimEvents(0);
    assert.equal(await b.client.xlen(`bull:${b.name}:events`), 0);
  },

  async 'flows'(b) {
    const events = await b.events();
    b.worker(async (job) => {
      if (job.name === 'bad') throw new Error('bad');
      if (job.name === 'leaf') return job.data.n;
      const values = Object.values(await job.getChildrenValues());
      return values.reduce((sum, n) => sum + n, 0);
    }, { concurrency: 3 });
    const flow = b.keep(new FlowProducer({ connection }));
    const leaf = (n) => ({ name: 'leaf', queueName: b.name, data: { n } });
    const tree = await flow.add({
      name: 'root', queueName: b.name,
      children: [leaf(1), { name: 'branch', queueName: b.name, children: [leaf(10), leaf(20)] }],
    });
    assert.equal(await tree.job.waitUntilFinished(events, patience), 31);
    const stored = await flow.getFlow({ id: tree.job.id, queueName: b.name });
    assert.deepEqual(stored.children.map((c) => c.job.name).sort(), ['branch', 'leaf']);
    assert.ok(b.saw('waiting-children').length >= 2);
    // A failing child fails its parent if it says so.
    const opts = { failParentOnFailure: true };
    const failing = await flow.add({
      name: 'root', queueName: b.name, children: [{
        name: 'branch', queueName: b.name, opts,
        children: [{ name: 'bad', queueName: b.name, opts }],
      }],
    });
    await assert.rejects(failing.job.waitUntilFinished(events, patience), /child .* failed/);
    assert.equal(await b.queue.getFailedCount(), 3);
  },

  async 'rate limits'(b) {
    const done = [];
    const start = Date.now();
    b.worker(async () => { done.push(Date.now() - start); },
      { limiter: { max: 2, duration: 200 }, concurrency: 10 });
    await b.queue.addBulk(Array.from({ length: 6 }, (_, i) => ({ name: 'job', data: { i } })));
    await eventually('six jobs', () => done.length === 6);
    assert.ok(done[5] >= 395, `six jobs at two in 200 ms took ${done[5]} ms`);
  },

  async 'pause and resume'(b) {
    await b.events();
    const done = [];
    const worker = b.worker(async (job) => { done.push(job.name); });
    await worker.waitUntilReady();
    await b.queue.pause();
    assert.ok(await b.queue.isPaused());
    await b.queue.add('job', {});
    const counts = await b.queue.getJobCounts('waiting', 'paused', 'active', 'completed');
    assert.equal(counts.active + counts.completed, 0);
    assert.equal(counts.waiting + counts.paused, 1);
    await b.queue.resume();
    await eventually('the job', () => done.length === 1);
    await eventually('events', () => b.saw('resumed').length === 1);
    assert.equal(b.saw('paused').length, 1);
    await worker.pause();
    await b.queue.add('job', {});
    worker.resume();
    await eventually('the second job', () => done.length === 2);
  },

  async 'stalled jobs'(b) {
    const events = await b.events();
    const taker = b.worker(null, { lockDuration: 200, skipStalledCheck: true });
    const job = await b.queue.add('job', {});
    const taken = await taker.getNextJob('token'); // and never heard of again
    assert.equal(taken.id, job.id);
    assert.equal(await job.getState(), 'active');
    b.worker(async () => 'rescued', { stalledInterval: 100, lockDuration: 1000 });
    assert.equal(await job.waitUntilFinished(events, patience), 'rescued');
    assert.deepEqual(b.saw('stalled').map((args) => args.jobId), [job.id]);
  },

  async 'bulk'(b) {
    const n = 1000;
    const jobs = await b.queue.addBulk(Array.from({ length: n },
      (_, i) => ({ name: 'job', data: { i }, opts: { removeOnComplete: { count: 50 } } })));
    assert.equal(jobs.length, n);
    assert.equal(await b.queue.count(), n);
    const seen = new Set();
    let twice = 0;
    for (let i = 0; i < 3; i++) {
      b.worker(async (job) => {
        if (seen.has(job.data.i)) twice++;
        seen.add(job.data.i);
      }, { concurrency: 20 });
    }
    await eventually('all jobs', async () => seen.size === n &&
      (await b.queue.getActiveCount()) === 0);
    assert.equal(twice, 0);
    assert.equal(await b.queue.getCompletedCount(), 50);
  },

  async 'deduplication and job IDs'(b) {
    await b.events();
    const opts = { deduplication: { id: 'one' } };
    const job = await b.queue.add('job', { n: 1 }, opts);
    const again = await b.queue.add('job', { n: 2 }, opts);
    assert.equal(again.id, job.id);
    await b.queue.add('job', {}, { jobId: 'mine' });
    await b.queue.add('job', {}, { jobId: 'mine' });
    assert.equal(await b.queue.getWaitingCount(), 2);
    await eventually('the event', () => b.saw('deduplicated').length === 1);
    b.worker(async () => {});
    await eventually('both', async () => (await b.queue.getCompletedCount()) === 2);
    assert.notEqual((await b.queue.add('job', { n: 3 }, opts)).id, job.id);
  },

  async 'concurrency of a queue'(b) {
    let now = 0;
    let most = 0;
    await b.queue.setGlobalConcurrency(2);
    await b.queue.addBulk(Array.from({ length: 20 }, () => ({ name: 'job', data: {} })));
    b.worker(async () => {
      most = Math.max(most, ++now);
      await sleep(10);
      now--;
    }, { concurrency: 8 });
    await eventually('all jobs', async () => (await b.queue.getCompletedCount()) === 20);
    assert.equal(most, 2);
  },

  async 'cleaning'(b) {
    b.worker(async (job) => { if (job.data.i % 2) throw new Error('odd'); });
    await b.queue.addBulk(Array.from({ length: 20 }, (_, i) => ({ name: 'job', data: { i } })));
    await eventually('all jobs', async () =>
      (await b.queue.getCompletedCount()) === 10 && (await b.queue.getFailedCount()) === 10);
    assert.equal((await b.queue.getJobs(['completed', 'failed'], 0, 7)).length, 16);
    assert.equal((await b.queue.clean(0, 4, 'completed')).length, 4);
    assert.equal((await b.queue.clean(0, 0, 'failed')).length, 10);
    assert.deepEqual(await b.queue.getJobCounts('completed', 'failed'),
      { completed: 6, failed: 0 });
    await b.open[1].close();
    await b.queue.add('job', { i: 0 });
    await b.queue.add('job', { i: 0 }, { delay: 3_600_000 });
    await b.queue.drain(true);
    assert.equal(await b.queue.count(), 0);
  },

  async 'obliterate'(b) {
    b.worker(async () => {});
    await b.queue.addBulk(Array.from({ length: 30 }, () => ({ name: 'job', data: {} })));
    await eventually('all jobs', async () => (await b.queue.getCompletedCount()) === 30);
    await b.open[1].close();
    await b.queue.add('later', {}, { delay: 3_600_000 });
    await b.queue.add('important', {}, { priority: 3 });
    await b.queue.obliterate();
    assert.deepEqual(await b.client.keys(`bull:${b.name}:*`), []);
  },
};

async function main() {
  const client = new IORedis(connection);
  let number = 0;
  for (const [name, run] of Object.entries(paths)) {
    const b = new Bench(`queue-${++number}`);
    b.client = client;
    const start = Date.now();
    try {
      await run(b);
    } catch (err) {
      err.message = `${name}: ${err.message}\nevents: ${JSON.stringify(b.seen)}`;
      throw err;
    }
    await b.close();
    console.log(`${name}: ${Date.now() - start} ms`);
  }
  client.disconnect();
  await once(client, 'end');
}

main().catch((err) => {
  console.error(err.stack);
  process.exit(1);
});
