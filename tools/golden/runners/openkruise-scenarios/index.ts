/** `openkruise-scenarios.jsonl`: whole OpenKruise scenarios on a cluster, played on a simulated member step by step. */
import type { JsonObject } from "@flotilla/base";
import type { CaseRunner, GoldenCase } from "../../golden.ts";
import {
  differenceInEvents,
  differenceInExtremes,
  differenceInOrder,
  differenceInResults,
  differenceInState,
} from "./compare-states.ts";
import { LATER, pathOf } from "./kinds.ts";
import { NAMESPACE, startMember, type ScenarioMember } from "./member.ts";
import { observe } from "./observe.ts";
import { createPodChanges, type PodChanges } from "./pod-changes.ts";
import { fillIn, listOf, type Action, type Patch, type Result, type Scenario, type Step } from "./scenario.ts";

const IN_NAMESPACE: ReadonlyMap<string, string> = new Map([["ns", NAMESPACE]]);
const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

export const openKruiseScenarios: CaseRunner = {
  async check(line) {
    const scenario = line as unknown as Scenario;
    const later = laterKind(scenario);
    return later === undefined ? play(scenario) : `${later} is not served yet`;
  },
  reasonFor: (line: GoldenCase) =>
    laterKind(line as unknown as Scenario) === undefined
      ? undefined
      : "The CRDs of OpenKruise's other kinds are served when their controllers exist.",
};

function laterKind({ steps }: Scenario): string | undefined {
  return steps.flatMap((step) => step.do.create ?? []).find(({ kind }) => LATER.has(kind))?.kind;
}

async function play({ gates, steps }: Scenario): Promise<string | undefined> {
  const member = await startMember(gates);
  try {
    const changes = createPodChanges();
    member.onPodChange(changes.see);
    const names = new Map<string, string>();
    // Once a step may end in several states, later observations belong to another branch.
    let hasForked = false;
    for (const [index, step] of steps.entries()) {
      await bindNames(member, step, names);
      const difference =
        (await playStep(member, step, names, changes)) ??
        (hasForked ? undefined : differenceDuring(changes, step, names));
      hasForked ||= step.wantAnyOf !== undefined;
      if (difference !== undefined)
        return `step ${index}${step.note === undefined ? "" : ` (${step.note})`}: ${difference}`;
    }
    return undefined;
  } finally {
    await member.stop();
  }
}

async function playStep(
  member: ScenarioMember,
  step: Step,
  names: ReadonlyMap<string, string>,
  changes: PodChanges,
): Promise<string | undefined> {
  member.events.length = 0;
  changes.reset();
  const results = await act(member, fillIn(fillIn(step.do, IN_NAMESPACE), names));
  await member.settle((step.wait ?? 0) * 1_000);

  const got = await observe(member, names);
  const accepted = (step.wantAnyOf ?? listOf(step.want)).map((want) => fillIn(want, IN_NAMESPACE));
  const differences = accepted.map(
    (want) => differenceInResults(results, want.results) ?? differenceInState(got, want),
  );
  const state = differences.includes(undefined) ? undefined : differences[0];
  const { events = [], eventsSometimes } = { ...step, ...step.want };
  // Events of a cluster-scoped object stay in another namespace, and remained there from the previous recording.
  const isOld = (event: string): boolean =>
    event.includes(" SidecarSet ") && accepted.every(({ pods = [] }) => pods.length === 0);
  return (
    state ??
    differenceInEvents(
      member.events,
      events.filter((event) => !isOld(event)),
      eventsSometimes,
    )
  );
}

function differenceDuring(changes: PodChanges, step: Step, names: ReadonlyMap<string, string>): string | undefined {
  const { during, order } = { ...step, ...step.want };
  const endsAtOnce = (step.wantAnyOf ?? listOf(step.want)).some(({ pods = [] }) =>
    pods.some(({ phase }) => phase === "Succeeded" || phase === "Failed"),
  );
  return (
    differenceInOrder(changes.order(), fillIn(order, names)) ??
    differenceInExtremes(changes.during(), during, endsAtOnce)
  );
}

async function bindNames(member: ScenarioMember, step: Step, names: Map<string, string>): Promise<void> {
  if (!step.let) return;
  const { body } = await member.send("GET", pathOf("Pod"));
  const items = body["items"] as unknown as {
    metadata: { name: string; creationTimestamp: string; labels?: Record<string, string> };
    spec: { containers: { image: string }[] };
  }[];
  // Any pod is suitable; the newest was used where it made a difference.
  const pods = items.toSorted(
    (a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp),
  );
  for (const [name, { labels = {}, image }] of Object.entries(step.let)) {
    const fits = pods.find(
      ({ metadata, spec }) =>
        ![...names.values()].includes(metadata.name) &&
        Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value) &&
        (image === undefined || spec.containers[0]?.image === image),
    );
    if (!fits) throw new Error(`no pod is left for {{${name}}}`);
    names.set(name, fits.metadata.name);
  }
}

async function act(member: ScenarioMember, action: Action): Promise<Result[]> {
  const results: Result[] = [];
  const call = async (...request: Parameters<ScenarioMember["send"]>): Promise<void> => {
    const { status, body } = await member.send(...request);
    results.push(status < 300 ? { code: status } : failureOf(status, body));
  };
  for (const object of action.create ?? []) {
    await call(
      "POST",
      pathOf(object.kind, { apiVersion: object.apiVersion, namespace: object.metadata.namespace }),
      object,
    );
  }
  for (const patch of listOf(action.patch))
    await call(
      "PATCH",
      pathOf(patch.kind, { object: patch.name, subresource: patch.subresource }),
      patch.body,
      patchType(patch),
    );
  for (const { kind, name } of listOf(action.delete))
    await call("DELETE", pathOf(kind, { object: name }), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Background",
    });
  for (const { name } of listOf(action.evict))
    await call("POST", pathOf("Pod", { object: name, subresource: "eviction" }), {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace: NAMESPACE },
    });
  return results;
}

const patchType = ({ body }: Patch): string => (Array.isArray(body) ? JSON_PATCH : MERGE);

function failureOf(code: number, { reason, message }: JsonObject): Result {
  return {
    code,
    reason: typeof reason === "string" ? reason : undefined,
    message: typeof message === "string" ? message : undefined,
  };
}
