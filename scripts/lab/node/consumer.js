// A KafkaJS consumer that works at a given pace and stalls when it is told to. The options, the commands on standard
// input and the events on standard output are those of scripts/lab/README.md. KafkaJS checks no poll interval: it sends
// its heartbeats between two records, so that work on one record longer than the session ends the session.

'use strict'

const readline = require('node:readline')
const { Kafka, logLevel } = require('kafkajs')

function say(event, fields = {}) {
  process.stdout.write(JSON.stringify({ event, ts: Date.now(), ...fields }) + '\n')
}

function options(args) {
  const o = { extra: {} }
  for (let i = 0; i < args.length; i += 2) {
    if (i + 1 === args.length) throw new Error(`expected --option value, got ${args[i]}`)
    if (args[i] === '-X') {
      const at = args[i + 1].indexOf('=')
      o.extra[args[i + 1].slice(0, at)] = convert(args[i + 1].slice(at + 1))
    } else {
      o[args[i].replace(/^--/, '')] = args[i + 1]
    }
  }
  return o
}

const convert = value => (/^-?\d+$/.test(value) ? Number(value) : value === 'true' ? true : value === 'false' ? false : value)

// Its own log lines, which it writes as JSON, go to standard error: standard output is for events.
const logCreator = () => ({ namespace, level, label, log }) => {
  process.stderr.write(JSON.stringify({ level: label, ...log, logger: 'kafkajs', namespace: undefined, ...(namespace ? { message: `[${namespace}] ${log.message}` } : {}) }) + '\n')
}

class Lab {
  constructor(o) {
    this.o = o
    this.commit = o.commit || 'auto'
    this.perPoll = Number(o['per-poll'] || 0)
    this.perRecord = Number(o['per-record'] || 0)
    this.stall = 0
    this.closing = new Promise(resolve => { this.close = resolve })
    this.closed = false
    const kafka = new Kafka({ clientId: o['client-id'], brokers: o.bootstrap.split(','), logLevel: logLevel[(o.log || 'warn').toUpperCase()], logCreator })
    const settings = { groupId: o.group, ...o.extra }
    for (const [option, key] of [['session', 'sessionTimeout'], ['heartbeat', 'heartbeatInterval'], ['max-poll', 'rebalanceTimeout'], ['rack', 'rackId']]) {
      if (o[option]) settings[key] = convert(o[option])
    }
    delete settings.autoCommitInterval
    if (o.assignor && o.assignor !== 'roundrobin') throw new Error(`assignor ${o.assignor}: KafkaJS has roundrobin alone`)
    if (o['instance-id'] || o.protocol === 'consumer') throw new Error('KafkaJS joins classic groups as a dynamic member')
    this.consumer = kafka.consumer(settings)
  }

  // Nothing is done for so long, and no heartbeat sent; a close ends it early.
  async work(millis) {
    if (millis > 0 && !this.closed) await Promise.race([this.closing, new Promise(resolve => setTimeout(resolve, millis))])
  }

  async pause() {
    if (!this.stall) return
    const millis = this.stall
    this.stall = 0
    await this.work(millis)
    say('stalled')
  }

  obey(line) {
    const [command, argument = ''] = line.trim().split(' ')
    say('obeys', { command, argument })
    switch (command) {
      case 'stall': this.stall = Number(argument); break
      case 'block':
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(argument)) // the event loop stands still
        say('stalled')
        break
      case 'per-poll': this.perPoll = Number(argument); break
      case 'per-record': this.perRecord = Number(argument); break
      case 'commit': this.commit = argument; break
      case 'close': this.close(); break
      default: say('error', { message: `unknown command ${command}` })
    }
  }

  async record(topic, partition, message) {
    await this.pause()
    await this.work(this.perRecord)
    if (this.commit === 'record' && !this.closed) await this.done(topic, partition, message.offset)
  }

  async done(topic, partition, offset) {
    try {
      await this.consumer.commitOffsets([{ topic, partition, offset: String(BigInt(offset) + 1n) }])
    } catch (e) {
      say('commit-failed', { message: e.message })
      throw e
    }
  }

  runner() {
    const interval = this.o.extra.autoCommitInterval
    if (this.commit !== 'sync') {
      return {
        autoCommit: this.commit === 'auto',
        ...(interval ? { autoCommitInterval: interval } : {}),
        eachMessage: ({ topic, partition, message }) => this.record(topic, partition, message),
      }
    }
    return {
      autoCommit: false,
      eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
        for (const message of batch.messages) {
          if (this.closed) return
          await this.record(batch.topic, batch.partition, message)
          resolveOffset(message.offset)
          await heartbeat()
        }
        await this.work(this.perPoll)
        if (!this.closed) await this.done(batch.topic, batch.partition, batch.lastOffset())
      },
    }
  }

  async run() {
    const { GROUP_JOIN, REBALANCING, CRASH } = this.consumer.events
    this.consumer.on(GROUP_JOIN, ({ payload }) => {
      const partitions = Object.entries(payload.memberAssignment).flatMap(([topic, list]) => list.map(p => `${topic}-${p}`)).sort()
      say('assigned', { partitions, member: payload.memberId })
    })
    this.consumer.on(REBALANCING, () => say('revoked', { partitions: [] }))
    this.consumer.on(CRASH, ({ payload }) => say('error', { message: payload.error.message }))
    this.closing.then(() => { this.closed = true })
    await this.consumer.connect()
    await this.consumer.subscribe({ topics: this.o.topics.split(','), fromBeginning: true })
    await this.consumer.run(this.runner())
    await this.closing
    await this.consumer.disconnect()
    say('closed')
    process.exit(0)
  }
}

const lab = new Lab(options(process.argv.slice(2)))
for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => lab.close())
readline.createInterface({ input: process.stdin }).on('line', line => lab.obey(line)).on('close', () => lab.close())
lab.run().catch(e => {
  say('error', { message: String(e) })
  process.exit(1)
})
