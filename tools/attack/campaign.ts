/** Carries out attacks one after the other on one hub, and measures a probe client and the hub's memory meanwhile. */
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "@flotilla/base";
import { notTried, verdictOf, type Attack, type Verdict } from "./attack.ts";
import { startProbe, type ProbeClient } from "./probe-client.ts";
import { probeLimitMs, isMemoryBack, isOnlySlow, judge, type Judgement, type Latency } from "./judge.ts";
import { measureMemory, type MemoryMeter } from "./memory.ts";
import { yieldProcessor } from "./processor.ts";
import { must, startHub, type AttackedHub } from "./world.ts";

const ATTACK_LIMIT_MS = { full: 120_000, short: 30_000 };
const QUIET_MS = { full: 1_000, short: 300 };
/** The probe client continues for a moment, because some attacks have consequences after their last response. */
const AFTERMATH_MS = 200;
const LATER_MS = 60_000;
const LATER_STEP_MS = 1_000;

const NO_WAITING: Latency = { longestReadMs: 0, longestWriteMs: 0, ownDelayMs: 0, reads: 0, writes: 0, failed: 0 };
const MAX_QUIET_ROUNDS = 5;

export interface CampaignOptions {
  chosen: readonly Attack[];
  isShort: boolean;
  /** No attack starts later. */
  minutes: number;
}

export async function runCampaign(
  { chosen, isShort, minutes }: CampaignOptions,
  report: (judgement: Judgement) => void,
): Promise<Judgement[]> {
  const end = performance.now() + minutes * 60_000;
  const judgements: Judgement[] = [];
  let scene = await setScene(isShort);
  const note = (judgement: Judgement): void => {
    judgements.push(judgement);
    report(judgement);
  };
  try {
    for (const attack of chosen) {
      // The attacks after one that ended the hub are tried as well.
      if (!scene.hub.isAlive()) {
        await leaveScene(scene);
        scene = await setScene(isShort);
      }
      note(performance.now() > end ? unstarted(attack, `${minutes} minutes are over`) : await carryOut(attack, scene));
    }
    if (!isShort && scene.hub.isAlive()) note(await judgeAfterwards(scene));
  } finally {
    await leaveScene(scene);
  }
  return judgements;
}

/** Each attack is compared with what was there before it, so a little that each of them leaves is seen only here. */
async function judgeAfterwards({ hub, memory, firstMiB }: Scene): Promise<Judgement> {
  const { laterMiB, laterSeconds } = await memoryLater(memory, firstMiB, hub);
  const name = "memory/afterwards";
  const claim = "what all attacks took is given back within a minute";
  const seen = `${Math.round(firstMiB ?? 0)} MiB before the first attack, ${Math.round(laterMiB ?? 0)} MiB ${laterSeconds} s after the last`;
  const verdict = firstMiB === undefined ? notTried(claim, "memory cannot be read here") : verdictOf(claim, [], seen);
  const problems = isMemoryBack(firstMiB, laterMiB) ? [] : [seen];
  const observation = {
    isHubAlive: true,
    quiet: NO_WAITING,
    during: NO_WAITING,
    idleMiB: firstMiB,
    laterMiB,
    laterSeconds,
  };
  return { name, claim, ...verdict, outcome: problems.length > 0 ? "broken" : verdict.outcome, problems, observation };
}

interface Scene {
  hub: AttackedHub;
  /** Before the first attack. */
  firstMiB: number | undefined;
  probeClient: ProbeClient;
  memory: MemoryMeter;
  isShort: boolean;
}

async function setScene(isShort: boolean): Promise<Scene> {
  const hub = await startHub({ isShort });
  const memory = measureMemory(() => hub.pid);
  const probeClient = await createProbe(hub);
  yieldProcessor();
  return { hub, memory, firstMiB: memory.now(), probeClient, isShort };
}

async function leaveScene({ hub, probeClient, memory }: Scene): Promise<void> {
  probeClient.stop();
  memory.stop();
  await hub.stop();
}

/**
 * A stall on a busy machine may have another cause, so an attack that only took long is repeated once, and so is one
 * whose preparation failed.
 */
async function carryOut(attack: Attack, scene: Scene): Promise<Judgement> {
  const first = await attempt(attack, scene);
  if (!isOnlySlow(first) && !(first.outcome === "not tried" && scene.hub.isAlive())) return first;
  const second = await attempt(attack, scene);
  return second.outcome === "not tried" ? first : second;
}

async function attempt(attack: Attack, { hub, probeClient, memory, isShort }: Scene): Promise<Judgement> {
  const quiet = await measureQuiet(probeClient, isShort ? QUIET_MS.short : QUIET_MS.full);
  memory.reset();
  const idleMiB = memory.now();
  probeClient.reset();
  const verdict = await verdictFor(attack, hub, isShort);
  await delay(AFTERMATH_MS);
  const during = await probeClient.report();
  const peakMiB = memory.peak();
  const later = isShort ? undefined : await memoryLater(memory, idleMiB, hub);
  return judge(attack, verdict, { isHubAlive: hub.isAlive(), quiet, during, idleMiB, peakMiB, ...later });
}

/** The memory as soon as it is back, or after a minute. */
export async function memoryLater(
  memory: MemoryMeter,
  idleMiB: number | undefined,
  hub: Pick<AttackedHub, "isAlive">,
): Promise<{ laterMiB?: number; laterSeconds: number }> {
  const start = performance.now();
  for (;;) {
    const laterMiB = memory.now();
    const waitedMs = performance.now() - start;
    if (isMemoryBack(idleMiB, laterMiB) || waitedMs > LATER_MS || !hub.isAlive())
      return { laterMiB, laterSeconds: Math.round(waitedMs / 1_000) };
    await delay(LATER_STEP_MS);
  }
}

/** The consequences of the attack before it, such as deletions, must not count as quiet. */
async function measureQuiet(probeClient: ProbeClient, ms: number): Promise<Latency> {
  let latency: Latency;
  let rounds = 0;
  do {
    probeClient.reset();
    await delay(ms);
    latency = await probeClient.report();
  } while (probeLimitMs(latency) > probeLimitMs(NO_WAITING) && ++rounds < MAX_QUIET_ROUNDS);
  return latency;
}

async function verdictFor(attack: Attack, hub: AttackedHub, isShort: boolean): Promise<Verdict> {
  const limitMs = isShort ? ATTACK_LIMIT_MS.short : ATTACK_LIMIT_MS.full;
  const signal = AbortSignal.timeout(limitMs);
  const visit = hub.visit();
  const overdue = new Promise<Verdict>((resolve) =>
    signal.addEventListener("abort", () => resolve(notTried(attack.claim, `not finished within ${limitMs / 1000} s`))),
  );
  try {
    return await Promise.race([attack.run({ ...visit.world, signal }), overdue]);
  } catch (error) {
    // A preparation that failed: nothing was shown.
    return notTried(attack.claim, messageOf(error));
  } finally {
    await visit.end();
  }
}

function unstarted({ name, claim }: Attack, reason: string): Judgement {
  const observation = { isHubAlive: true, quiet: NO_WAITING, during: NO_WAITING };
  return { name, claim, ...notTried(claim, reason), problems: [], observation };
}

/** Its namespace is kept until the hub stops. */
async function createProbe(hub: AttackedHub): Promise<ProbeClient> {
  const { world } = hub.visit();
  const namespace = await world.namespace("probe");
  const { token, api } = await world.account({ role: "edit", namespace });
  api.close();
  const path = `/api/v1/namespaces/${namespace}/configmaps/own`;
  await must(world.admin.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: "own" } }));
  const probeClient = startProbe({ origin: world.origin, path, ca: world.ca, token });
  while ((await probeClient.report()).writes === 0) await delay(100);
  return probeClient;
}
