/**
 * A stress run: hostile members, agents and tenants attack one hub at the same time, for as long as wanted, beside a steady
 * load on members that behave. The quiet phase before it has the same load and no attacker.
 *
 * Canaries are values that no hostile peer may ever receive: Secrets of the hub, Secrets that are propagated to one
 * well-behaved member, and the tokens with which the hub reaches others.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf, randomUuid, systemRandom } from "@flotilla/base";
import type { Attack } from "./attack.ts";
import { memoryLater } from "./campaign.ts";
import { attacks, familyOf } from "./catalogue.ts";
import { modes } from "./families/members.ts";
import { joinHostileMember } from "./hostile-member.ts";
import type { LoadCommand, LoadReport } from "./load-process.ts";
import { measureMemory } from "./memory.ts";
import { processorSince, processorTime, yieldProcessor } from "./processor.ts";
import { deliveryOf, type Delivery, type StressObservation } from "./stress-judge.ts";
import { eventually, MEMBERS, must, startHub, type AttackedHub, type World } from "./world.ts";

const OBJECTS = Array.from({ length: 20 }, (_, index) => `c${index}`);
const INTERVAL_MS = 200;
/** A fifth of the stress run, within these bounds: p99 needs some hundred changes. */
const QUIET_SECONDS = { least: 40, most: 300 };
const WARM_UP_MS = 5_000;
const MODE_MS = 6_000;
const ATTACK_LIMIT_MS = 60_000;
const POLICIES = "/apis/policy.karmada.io/v1alpha1";

/** Which attacks each attacker repeats. Families whose attacks stop hubs of their own are left out. */
const LANES: Readonly<Record<string, readonly string[]>> = {
  "tenants with large requests": ["bodies", "lists"],
  "tenants that probe": ["tenants", "connections", "scripts"],
  agents: ["agents"],
};
/** They fill the machine rather than the hub, or measure what another attacker disturbs. */
const LEFT_OUT: ReadonlySet<string> = new Set(["bodies/mutated-manifests", "agents/hostile-status"]);
const MEMBER_LANES = 2;

export async function runStress(minutes: number, report: (line: string) => void): Promise<StressObservation> {
  const hub = await startHub({ isShort: true });
  const memory = measureMemory(() => hub.pid);
  let load: ChildProcess | undefined;
  try {
    const setUp = hub.visit();
    const canary = await plantCanaries(setUp.world);
    load = await startLoad(setUp.world);
    await delay(WARM_UP_MS);
    await takeLoad(load);
    yieldProcessor();
    const quietSeconds = Math.min(Math.max(minutes * 12, QUIET_SECONDS.least), QUIET_SECONDS.most);
    report(`quiet phase of ${quietSeconds} s`);
    await delay(quietSeconds * 1_000);
    const quiet = await takeLoad(load);
    const idleMiB = memory.now();
    memory.reset();
    report(`p99 of deliveries ${Math.round(quiet.p99Ms)} ms; stress of ${minutes} minutes`);
    const before = processorTime(hub.pid);
    const found = await stressHub(hub, minutes, canary, report);
    const processor = hub.isAlive() ? processorSince(before, processorTime(hub.pid)) : undefined;
    const stress = await takeLoad(load);
    load.disconnect();
    load = undefined;
    const peakMiB = memory.peak();
    const later = await memoryLater(memory, idleMiB, hub);
    const laterHeap = hub.isAlive() ? await readHeap(setUp.world) : undefined;
    await setUp.end();
    return {
      minutes,
      quiet,
      stress,
      isHubAlive: hub.isAlive(),
      ...found,
      idleMiB,
      peakMiB,
      ...later,
      laterHeap,
      processor,
    };
  } finally {
    load?.disconnect();
    memory.stop();
    await hub.stop();
  }
}

function raise(problem: string): never {
  throw new Error(problem);
}

type UnderStress = Pick<StressObservation, "thefts" | "broken" | "visits">;

async function stressHub(
  hub: AttackedHub,
  minutes: number,
  isCanary: (text: string) => boolean,
  report: (line: string) => void,
): Promise<UnderStress> {
  const end = performance.now() + minutes * 60_000;
  const isOver = (): boolean => performance.now() > end || !hub.isAlive();
  const [thefts, broken] = [new Set<string>(), new Set<string>()];
  const visits = new Map<string, number>();
  const count = (party: string, more = 1): unknown => visits.set(party, (visits.get(party) ?? 0) + more);
  const steal = (what: string): void => {
    if (!thefts.has(what)) report(`stolen: ${what}`);
    thefts.add(what);
  };
  const fail = (what: string): void => {
    if (!broken.has(what)) report(`broken: ${what}`);
    broken.add(what);
  };

  const attackInTurn = async (party: string, families: readonly string[]): Promise<void> => {
    count(party, 0);
    const chosen = attacks.filter(
      (attack) => attack.short && families.includes(familyOf(attack)) && !LEFT_OUT.has(attack.name),
    );
    for (let turn = 0; !isOver(); turn++) {
      const attack = chosen[turn % chosen.length];
      if (!attack) return;
      const outcome = await carryOut(hub, attack, report, (text) => {
        if (isCanary(text)) steal(`${party}: ${attack.name}`);
      });
      if (outcome === "tried") count(party);
      else if (outcome !== "not tried" && !isOver()) fail(outcome);
    }
  };

  const misbehaveInTurn = async (lane: number): Promise<void> => {
    const party = `hostile member ${lane + 1}`;
    count(party, 0);
    const all = Object.entries(modes);
    for (let turn = lane * Math.floor(all.length / MEMBER_LANES); !isOver(); turn++) {
      const [name, { mode }] = all[turn % all.length] ?? raise("no modes");
      const visit = hub.visit();
      try {
        const member = await joinHostileMember(visit.world, {
          text: (text) => void (isCanary(text) && steal(`${party}: a canary, mode ${name}`)),
          foreignToken: () => steal(`${party}: a token of another, mode ${name}`),
        });
        await delay(1_000);
        member.setMode(mode);
        await delay(MODE_MS);
        if (member.reached() > 0) count(party);
      } catch (error) {
        report(`${party}, mode ${name}: ${messageOf(error).slice(0, 200)}`);
        await delay(1_000);
      } finally {
        await visit.end().catch((error: unknown) => report(messageOf(error)));
      }
    }
  };

  await Promise.all([
    ...Object.entries(LANES).map(([party, families]) => attackInTurn(party, families)),
    ...Array.from({ length: MEMBER_LANES }, (_, lane) => misbehaveInTurn(lane)),
  ]);
  return { thefts: [...thefts], broken: [...broken], visits: Object.fromEntries(visits) };
}

async function readHeap({ admin }: Visitor): Promise<StressObservation["laterHeap"]> {
  const { text } = await must(admin.get("/metrics"));
  const mibOf = (name: string): number =>
    Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN) / 2 ** 20;
  return {
    usedMiB: mibOf("nodejs_heap_size_used_bytes"),
    totalMiB: mibOf("nodejs_heap_size_total_bytes"),
    externalMiB: mibOf("nodejs_external_memory_bytes"),
  };
}

/** Preparations may fail beside other attacks, so only what was observed counts. */
async function carryOut(
  hub: AttackedHub,
  attack: Attack,
  report: (line: string) => void,
  inspect: (text: string) => void,
): Promise<string> {
  const visit = hub.visit(inspect);
  const signal = AbortSignal.timeout(ATTACK_LIMIT_MS);
  const overdue = new Promise<"overdue">((resolve) => signal.addEventListener("abort", () => resolve("overdue")));
  try {
    const verdict = await Promise.race([attack.run({ ...visit.world, signal }), overdue]);
    if (verdict === "overdue") return "not tried";
    return verdict.outcome === "broken" ? `${attack.name}: ${verdict.seen}` : "tried";
  } catch (error) {
    report(`not tried: ${attack.name}: ${messageOf(error).slice(0, 200)}`);
    await delay(200);
    return "not tried";
  } finally {
    await visit.end().catch((error: unknown) => report(`${attack.name}: ${messageOf(error)}`));
  }
}

/** Returns whether a text has a canary in it, also in base64. */
async function plantCanaries({ admin, namespace, memberToken }: Visitor): Promise<(text: string) => boolean> {
  const canaries = [`canary-${randomUuid(systemRandom)}`, `canary-${randomUuid(systemRandom)}`];
  const home = await namespace("canary");
  const secret = (name: string, value: string): object => ({ metadata: { name }, stringData: { token: value } });
  await must(admin.create(`/api/v1/namespaces/${home}/secrets`, secret("propagated", canaries[0] ?? "")));
  await must(admin.create("/api/v1/namespaces/karmada-cluster/secrets", secret("canary", canaries[1] ?? "")));
  await must(
    admin.create(`${POLICIES}/namespaces/${home}/propagationpolicies`, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "canary" },
      spec: {
        resourceSelectors: [{ apiVersion: "v1", kind: "Secret", name: "propagated" }],
        placement: { clusterAffinity: { clusterNames: [MEMBERS[0]] } },
      },
    }),
  );
  const tokens = await Promise.all(MEMBERS.slice(1).map((member) => memberToken(member)));
  const values = [...canaries, ...tokens];
  const needles = [...values, ...values.map((value) => Buffer.from(value).toString("base64"))];
  return (text) => needles.some((needle) => text.includes(needle));
}
type Visitor = Omit<World, "signal">;

/** ConfigMaps on all members, the hostile ones too, and a process that changes them. */
async function startLoad(visitor: Visitor): Promise<ChildProcess> {
  const { admin, namespace, memberToken, api, ...world } = visitor;
  const home = await namespace("load");
  const path = `/api/v1/namespaces/${home}/configmaps`;
  await must(
    admin.create(`${POLICIES}/namespaces/${home}/propagationpolicies`, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "everywhere" },
      spec: { resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap" }], placement: {} },
    }),
  );
  for (const name of OBJECTS) await must(admin.create(path, { metadata: { name }, data: { round: "0" } }));
  const members = await Promise.all(MEMBERS.map(async (name) => ({ name, token: await memberToken(name) })));
  for (const { name, token } of members) {
    const there = api({ token }, { cluster: name });
    const arrived = async (): Promise<true | undefined> =>
      (await there.get(`${path}/${OBJECTS.at(-1)}`)).status === 200 ? true : undefined;
    if (!(await eventually(arrived, 20_000))) throw new Error(`the load did not reach ${name}`);
  }
  const child = fork(join(import.meta.dirname, "load-process.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const command: LoadCommand = {
    type: "start",
    options: {
      origin: world.origin,
      ca: world.ca,
      token: world.adminToken,
      members,
      namespace: home,
      objects: OBJECTS,
      intervalMs: INTERVAL_MS,
    },
  };
  child.send(command);
  return child;
}

async function takeLoad(load: ChildProcess): Promise<Delivery> {
  const answer = once(load, "message") as Promise<[LoadReport]>;
  load.send({ type: "take" } satisfies LoadCommand);
  const [{ deliveryMs, lost, failures }] = await answer;
  return deliveryOf(deliveryMs, lost, failures);
}
