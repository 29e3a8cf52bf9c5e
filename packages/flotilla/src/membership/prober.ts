/**
 * Probes every member at its own interval. Each member has its own loop with one request at a time, so that a hanging
 * member does not delay other probes. The last result is kept here; the membership controller is notified of changes.
 */
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Source } from "@flotilla/controller-runtime";
import { createDiscovery } from "./discovery.ts";
import type { Discovery } from "./discovery.ts";
import { collectFacts, probe } from "./probe.ts";
import { PROBES_BEFORE_SILENT } from "./ready.ts";
import type { Facts, Probe } from "./probe.ts";

export interface ProberOptions {
  hub: string;
  periodMs: number;
  /** Maximum age of discovery results; the controllers trigger a refresh on changes. */
  factsEveryMs(cluster: string): number;
  clock: Clock;
  random: Random;
  log: Log;
}

interface ProbeResult {
  probe: Probe;
  /** How many probes in a row have had no answer, this one included; counted up to what matters. */
  unanswered: number;
  /** The last collected facts; a member that stops answering keeps them. */
  facts?: Facts;
}

export interface Prober {
  source(): Source<ObjectKey>;
  /** Starts probing a member through this client; another client starts over. */
  follow(cluster: string, client: Client): void;
  /** Stops probing it. */
  drop(cluster: string): void;
  /** Undefined while the first probe is in flight. */
  last(cluster: string): ProbeResult | undefined;
  /** A request to it failed: probes it soon, unless its last probe failed as well. */
  check(cluster: string): void;
  /** Its served kinds may have changed: probes at once. */
  refresh(cluster: string): void;
  close(): void;
}

/** A probe ends before the next is due; a healthy kube-apiserver answers within milliseconds. */
const MAX_PROBE_MS = 10_000;
/** A member that did not answer is asked again after this long. */
const CONFIRM_MS = 1_000;
/** Between two probes that failed requests ask for. */
const MIN_PAUSE_MS = 1_000;
/** Discovery of a large and distant cluster takes a while. */
const FACTS_TIMEOUT_MS = 30_000;

interface Loop {
  client: Client;
  discovery: Discovery;
  closing: AbortController;
  sighting?: ProbeResult;
  /** When discovery is due again. */
  factsDueMs: number;
  /** Its served kinds may have just changed, and a real cluster's discovery lags a moment: discovery runs twice. */
  isChanging: boolean;
  isLooking: boolean;
  /** Requested while a probe was in flight. */
  again: boolean;
  /** When the last probe began. */
  lastMs: number;
  timer?: { cancel(): void };
}

const isAnswered = ({ sighting }: Loop): boolean => sighting?.probe.health === "ready";

export function createProber(options: ProberOptions): Prober {
  const { hub, periodMs, factsEveryMs, clock, random, log } = options;
  const loops = new Map<string, Loop>();
  const listeners = new Set<(key: ObjectKey) => void>();
  const timeoutMs = Math.min(periodMs, MAX_PROBE_MS);

  async function look(cluster: string, loop: Loop): Promise<void> {
    const { signal } = loop.closing;
    const seen = await probe(loop.client, cluster, timeoutMs, clock, signal);
    let facts = loop.sighting?.facts;
    if (seen.health === "ready" && clock.now() >= loop.factsDueMs) {
      try {
        facts = await collectFacts(loop.client, cluster, loop.discovery, FACTS_TIMEOUT_MS, clock, signal);
        loop.factsDueMs = clock.now() + (loop.isChanging ? periodMs : factsEveryMs(cluster));
        loop.isChanging = false;
      } catch (error) {
        // It is healthy but discovery failed: the last facts stay, and the next probe retries.
        log.warn("discovery of a member failed", { member: cluster, error });
      }
    }
    const unanswered =
      seen.health === "unreachable" ? Math.min(PROBES_BEFORE_SILENT, (loop.sighting?.unanswered ?? 0) + 1) : 0;
    if (!signal.aborted) loop.sighting = { probe: seen, unanswered, facts };
  }

  function start(cluster: string, loop: Loop): void {
    loop.timer?.cancel();
    if (loop.isLooking) {
      loop.again = true;
      return;
    }
    loop.isLooking = true;
    loop.lastMs = clock.now();
    const isFirst = loop.sighting === undefined;
    const hadAnswered = isAnswered(loop);
    void look(cluster, loop).finally(() => {
      loop.isLooking = false;
      if (loop.closing.signal.aborted) return;
      for (const report of listeners) report({ cluster: hub, name: cluster });
      if (loop.again) {
        loop.again = false;
        return start(cluster, loop);
      }
      // After the first probe the timers are randomized, so that a thousand members are not probed at the same moment.
      const pauseMs = isFirst ? periodMs * (0.5 + random.next() / 2) : periodMs;
      // A first failure is confirmed soon.
      const isSuspect = (isFirst || hadAnswered) && !isAnswered(loop);
      loop.timer = clock.after(isSuspect ? Math.min(CONFIRM_MS, pauseMs) : pauseMs, () => start(cluster, loop));
    });
  }

  function drop(cluster: string): void {
    const loop = loops.get(cluster);
    loop?.timer?.cancel();
    loop?.closing.abort();
    loops.delete(cluster);
  }

  return {
    source: () => ({
      start(enqueue, signal) {
        const report = (key: ObjectKey): void => enqueue(key);
        listeners.add(report);
        signal.addEventListener("abort", () => listeners.delete(report), { once: true });
      },
      isQuiet() {
        for (const { isLooking } of loops.values()) if (isLooking) return false;
        return true;
      },
    }),
    follow(cluster, client) {
      if (loops.get(cluster)?.client === client) return;
      drop(cluster);
      const loop: Loop = {
        client,
        discovery: createDiscovery(client, cluster),
        closing: new AbortController(),
        factsDueMs: 0,
        isChanging: false,
        isLooking: false,
        again: false,
        lastMs: 0,
      };
      loops.set(cluster, loop);
      start(cluster, loop);
    },
    drop,
    check(cluster) {
      const loop = loops.get(cluster);
      if (!loop || loop.isLooking || !isAnswered(loop)) return;
      loop.timer?.cancel();
      // A clock that was set back must not postpone it.
      const dueMs = Math.min(MIN_PAUSE_MS, loop.lastMs + MIN_PAUSE_MS - clock.now());
      if (dueMs <= 0) return start(cluster, loop);
      loop.timer = clock.after(dueMs, () => start(cluster, loop));
    },
    last: (cluster) => loops.get(cluster)?.sighting,
    refresh(cluster) {
      const loop = loops.get(cluster);
      if (!loop) return;
      loop.factsDueMs = 0;
      loop.isChanging = true;
      start(cluster, loop);
    },
    close() {
      for (const cluster of loops.keys()) drop(cluster);
    },
  };
}
