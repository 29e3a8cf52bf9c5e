/**
 * Runs the gates that ask something: metrics, webhooks, Jobs and images. An answer is handed to the planner, which keeps it
 * in the status of the FleetRollout; nothing else is remembered, so a hub that is restarted asks again.
 *
 * Reads: Secrets that gates name, Works of gates. Writes: Works of gates.
 */
import { isAlreadyExists } from "@flotilla/apimachinery";
import { formatTime, messageOf, defined } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import { idOfKey, keyOf } from "@flotilla/controller-runtime";
import type { Lister } from "@flotilla/controller-runtime";
import { Work } from "@flotilla/karmada";
import { Secret } from "@flotilla/kubernetes";
import type { FleetRollout, GateStatus } from "../kinds/fleet-rollout.ts";
import type { GateSpec } from "../kinds/strategy-fields.ts";
import { durationMs } from "../plan/durations.ts";
import { gateType, isSameGate } from "../plan/plan-gates.ts";
import type { AskGates } from "../rollout-controller.ts";
import type { AskGate } from "./ask-http.ts";
import { GateError } from "./ask-http.ts";
import { isWorkOf, planGateWorks, readWorks } from "./plan-gate-works.ts";
import { fillQuery, readMetric, readWebhook } from "./read-answers.ts";
import type { Verdict } from "./read-answers.ts";

type Rollout = DeepReadonly<FleetRollout>;

const SHORTEST_MS = 5_000;
/** How often the Works of a gate are looked at; their events do so sooner. */
const WORKS_MS = 5_000;
const JOB_FAILURES = 1;

interface Asked {
  atMs: number;
  isRunning: boolean;
  answer?: GateStatus;
}

interface GateDependencies {
  hub: string;
  client: Client;
  works: Lister<Work>;
  ask: AskGate;
  /** An answer has arrived. */
  changed(key: ObjectKey): void;
  clock: Clock;
  log: Log;
}

export function createGateRunner(deps: GateDependencies): AskGates {
  const { hub, client, works, ask, changed, clock, log } = deps;
  /** By FleetRollout; an entry ends with it. */
  const asked = new Map<string, Map<string, Asked>>();

  async function tokenOf(
    rollout: Rollout,
    reference: { name: string; key: string } | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (!reference) return undefined;
    const key = { cluster: hub, namespace: rollout.metadata.namespace ?? "", name: reference.name };
    const secret = await find(client, Secret, key, { signal });
    const encoded = secret?.data?.[reference.key];
    if (encoded === undefined) throw new GateError(`the Secret ${reference.name} has no key ${reference.key}`);
    return Buffer.from(encoded, "base64").toString("utf8").trim();
  }

  async function question(
    rollout: Rollout,
    gate: DeepReadonly<GateSpec>,
    wave: string,
    clusters: readonly string[],
    index: GateStatus,
    signal: AbortSignal,
  ): Promise<Verdict> {
    const { namespace = "" } = rollout.metadata;
    const names = { namespace, name: rollout.spec.target.name, wave, revision: rollout.spec.revision };
    if (gate.metric) {
      const query = fillQuery(gate.metric.query, names);
      const url = new URL(`${gate.metric.server.replace(/\/+$/, "")}/api/v1/query`);
      url.searchParams.set("query", query);
      const bearerToken = await tokenOf(rollout, gate.metric.bearerToken, signal);
      return readMetric(await ask({ method: "GET", url: url.href, bearerToken }, signal), gate.metric);
    }
    if (gate.webhook) {
      const bearerToken = await tokenOf(rollout, gate.webhook.bearerToken, signal);
      const { spec, status, metadata } = rollout;
      const body = JSON.stringify({
        rollout: metadata.name,
        ...names,
        target: spec.target,
        when: index.when,
        updated: status?.updated ?? 0,
        ready: status?.ready ?? 0,
        total: status?.total ?? 0,
        clusters,
      });
      return readWebhook(await ask({ method: "POST", url: gate.webhook.url, body, bearerToken }, signal));
    }
    const wanted = planGateWorks(rollout, index, gate, clusters);
    const found: (DeepReadonly<Work> | undefined)[] = [];
    for (const work of wanted) {
      const known = works.get(keyOf(hub, work));
      if (known && !isWorkOf(rollout, known))
        throw new GateError(`another Work is named ${work.metadata.namespace}/${work.metadata.name}`);
      if (!known)
        try {
          await client.create(Work, hub, work, { signal });
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
        }
      found.push(known);
    }
    return readWorks(gate, found);
  }

  async function run(
    rollout: Rollout,
    gate: DeepReadonly<GateSpec>,
    self: GateStatus,
    clusters: readonly string[],
    state: Asked,
  ): Promise<void> {
    const limit = gate.metric?.failureLimit ?? gate.webhook?.failureLimit ?? JOB_FAILURES;
    const before = state.answer ?? self;
    const stop = new AbortController();
    let verdict: Verdict;
    try {
      verdict = await question(rollout, gate, self.wave, clusters, self, stop.signal);
    } catch (error) {
      // An edge: a gate without an answer stays closed, and fails after as many attempts as its writer allows.
      verdict = { state: "Closed", message: messageOf(error), isFailure: true };
      log.info("gate not answered", {
        rollout: rollout.metadata.name,
        wave: self.wave,
        gate: self.type,
        error: messageOf(error),
      });
    }
    const failures = verdict.isFailure ? (before.failures ?? 0) + 1 : 0;
    const now = formatTime(clock.now());
    const hasFailed = verdict.state === "Failed" || failures >= limit;
    state.answer = {
      wave: self.wave,
      when: self.when,
      index: self.index,
      type: self.type,
      state: verdict.state === "Open" ? "Open" : hasFailed ? "Failed" : "Closed",
      checkedAt: now,
      failures,
      value: verdict.value?.slice(0, 256),
      message: verdict.message?.slice(0, 512),
      ...defined({
        openedBy: verdict.state === "Open" ? self.type : undefined,
        openedAt: verdict.state === "Open" ? now : undefined,
      }),
    };
    state.isRunning = false;
    changed(keyOf(hub, rollout));
  }

  const openGates = (rollout: Rollout): { gate: DeepReadonly<GateSpec>; self: GateStatus }[] => {
    const { status, spec } = rollout;
    if (status?.phase !== "Progressing" || status.waveState === "Open") return [];
    const when = status.waveState === "After" ? "After" : "Before";
    const wave = spec.strategy?.waves.find(({ name }) => name === status.wave);
    const gates = (when === "After" ? wave?.after : wave?.before) ?? [];
    return gates.flatMap((gate, index) => {
      const type = gateType(gate);
      if (type === "approval" || type === "soak" || type === "window") return [];
      const self: GateStatus = { wave: status.wave ?? "", when, index, type, state: "Pending" };
      const known = status.gates?.find((each) => isSameGate(each, self));
      return known?.state === "Open" ? [] : [{ gate, self: { ...self, failures: known?.failures } }];
    });
  };
  const intervalOf = (gate: DeepReadonly<GateSpec>): number =>
    Math.max(
      SHORTEST_MS,
      gate.metric || gate.webhook ? durationMs(gate.metric?.interval ?? gate.webhook?.interval ?? "30s") : WORKS_MS,
    );

  return {
    answersOf(rollout, { clusters }) {
      const id = idOfKey(keyOf(hub, rollout));
      const open = openGates(rollout);
      if (open.length === 0) {
        asked.delete(id);
        return [];
      }
      const known = asked.get(id) ?? new Map<string, Asked>();
      asked.set(id, known);
      const planned = rollout.status?.plan?.find(({ name }) => name === rollout.status?.wave)?.clusters ?? clusters;
      const answers: GateStatus[] = [];
      for (const { gate, self } of open) {
        const name = `${self.wave}/${self.when}/${self.index}/${rollout.spec.retry}`;
        const state = known.get(name) ?? { atMs: Number.NEGATIVE_INFINITY, isRunning: false };
        known.set(name, state);
        if (state.answer) answers.push(state.answer);
        if (state.isRunning || state.answer?.state === "Failed" || clock.now() < state.atMs + intervalOf(gate))
          continue;
        state.atMs = clock.now();
        state.isRunning = true;
        void run(rollout, gate, self, planned, state);
      }
      return answers;
    },
    againInMs(rollout) {
      const known = asked.get(idOfKey(keyOf(hub, rollout)));
      const open = known ? openGates(rollout) : [];
      return open.length === 0 ? undefined : Math.min(...open.map(({ gate }) => intervalOf(gate)));
    },
    forget: (key) => void asked.delete(idOfKey(key)),
  };
}
