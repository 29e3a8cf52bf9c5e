/** Adds to an explanation what the members' pods report, and interpreter rules that no condition reports. */
import { Cluster } from "@flotilla/karmada";
import { Event } from "@flotilla/kubernetes";
import { formatAge, HUB, isForbidden, parseApiVersion } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { eachObject, resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { isScheduled, runsToCompletion, unhealthyForMs } from "@flotilla/flotilla";
import type { Explanation } from "@flotilla/flotilla";
import { controllersProblem, readControllers } from "../health/controllers-state.ts";
import { explainHubCheck, readFailedChecks } from "../hub-checks.ts";
import { explainCauses, lookAtPods } from "../health/look-at-pods.ts";
import type { Cause, CopyRef } from "../health/look-at-pods.ts";
import { nameMembers } from "../health/name-members.ts";
import { missingReference } from "../health/pod-problems.ts";
import { failingNow, failureAdvice, ofExisting, readRuleEvents, SILENT_FAILURES } from "../health/rule-events.ts";
import { readScaling } from "./read-scaling.ts";
import { placeOf, proxyPath } from "../members/members-places.ts";

/** An explanation with what was looked at on the members, and what could not be. */
export type SeenExplanation = DeepReadonly<Explanation> & {
  readonly notChecked?: readonly string[];
  /** What pods wait for and members report that may pass by itself, and has not lasted: no problem yet. */
  readonly waiting?: readonly string[];
  /** What scales it or limits its namespace, as lines. */
  readonly scaling?: readonly string[];
};

/** Of an object that only ManifestWorks deliver, the hub does not know whether it is healthy. */
const MAX_DELIVERED = 10;

export async function lookAtCopies(
  explanation: DeepReadonly<Explanation>,
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
): Promise<SeenExplanation> {
  const { copies, isOverdue } = unhealthyCopies(explanation, clock.now());
  const notChecked: string[] = [];
  const allowed = async <T>(read: Promise<T>): Promise<T | undefined> => {
    try {
      return await read;
    } catch (error) {
      if (isForbidden(error)) return undefined;
      throw error;
    }
  };
  const clusters =
    copies.length === 0 ? [] : await allowed(Array.fromAsync(eachObject(client, Cluster, { cluster: HUB, signal })));
  const { reports, unseen } = await lookAtPods(copies, { client, clock, signal, places: clusters?.map(placeOf) });
  const found = explainCauses([...reports.values()], isOverdue);
  const known = new Set(found.map(({ text }) => text));
  const waiting = [
    ...explainCauses([...reports.values()], true).flatMap(({ text }) => (known.has(text) ? [] : [text])),
    ...unhealthyUntilNow(explanation, clock.now()),
  ];
  const causes = found.map((cause) => ({
    what: cause.text,
    try: `${fixOf(explanation, copies[0], cause)}${inspectCommand(copies, cause)}`,
  }));
  const [rules, controllers, scaling] = await Promise.all([
    allowed(readRules(explanation, client, clock, signal)),
    readControllers({ client, clock, signal }),
    readScaling(explanation, { client, clock, signal }),
  ]);
  const missing = controllersProblem(controllers);
  if (controllers.state === "unknown")
    notChecked.push("whether the hub's controllers run: you are not allowed to list leases in karmada-system");
  if (!rules) notChecked.push("interpreter rules: you are not allowed to list events");
  const hub = await readHub(client, signal);
  const unknown = [...notChecked, ...unseen, ...scaling.notChecked, ...hub.notChecked];
  // A release that failed names the pods that it failed for.
  const title = `release ${explanation.release?.name ?? ""} `;
  const ofRelease = explanation.problems.filter(({ what }) => explanation.release && what.startsWith(title));
  const explained = explanation.problems.map(({ what }) => what).join("\n");
  return {
    ...explanation,
    problems: [
      ...(missing ? [missing] : []),
      ...hub.problems,
      ...ofRelease,
      ...causes,
      ...(rules ?? []).filter(({ what }) => !explained.includes(what)),
      ...scaling.problems,
      ...explanation.problems.filter((problem) => !ofRelease.includes(problem)),
    ],
    waiting: waiting.length > 0 ? waiting : undefined,
    scaling: scaling.lines.length > 0 ? scaling.lines : undefined,
    notChecked: unknown.length > 0 ? unknown : undefined,
  };
}

/** A hub that does not work delays every object, so its failed checks come first. */
async function readHub(
  client: Client,
  signal: AbortSignal,
): Promise<{ problems: { what: string; try: string }[]; notChecked: string[] }> {
  const failed = await readFailedChecks(client, signal);
  const notChecked = failed ? [] : ["the hub's own checks: you are not allowed to read /readyz"];
  const problems = (failed ?? []).map((name) => ({
    what: `hub ${name}: ${explainHubCheck(name)}`,
    try: "'flotilla doctor' shows the state of the hub",
  }));
  return { problems, notChecked };
}

function unhealthyCopies(
  explanation: DeepReadonly<Explanation>,
  nowMs: number,
): { copies: CopyRef[]; isOverdue: boolean } {
  const { resource, members, manifests = [], works = [], rollout = [] } = explanation;
  const { apiVersion, kind, namespace, name } = resource;
  const copy = (cluster: string): CopyRef => ({ cluster, apiVersion, kind, namespace, name });
  // The status of a run does not always show that its pods do not start.
  const isRun = (ref: { apiVersion: string; kind: string }): boolean => isScheduled(ref) || runsToCompletion(ref);
  const [sickMembers, sickManifests] = [
    members.filter(
      ({ unhealthy, failedRule, applied, status }) =>
        failedRule === undefined &&
        (unhealthy !== undefined || ((applied === true || status !== undefined) && isRun(resource))),
    ),
    manifests.filter((item) => item.unhealthy !== undefined || (item.applied === true && isRun(item))),
  ];
  const rolledOut = rollout.flatMap(({ clusters }) =>
    clusters.flatMap(({ cluster, unhealthy = [] }) => unhealthy.map((object) => ({ ...object, cluster }))),
  );
  return {
    copies: [
      ...sickMembers.map(({ cluster }) => copy(cluster)),
      ...sickManifests.map((manifest) => ({
        cluster: namespace ?? "",
        apiVersion: manifest.apiVersion,
        kind: manifest.kind,
        namespace: manifest.namespace,
        name: manifest.name,
      })),
      ...rolledOut.map((object) => ({
        cluster: object.cluster,
        apiVersion: object.apiVersion,
        kind: object.kind,
        namespace: object.namespace,
        name: object.name,
      })),
      ...(members.length > 0
        ? []
        : works
            .filter((item) => item.applied)
            .map(({ cluster }) => copy(cluster))
            .slice(0, MAX_DELIVERED)),
    ],
    isOverdue: [...sickMembers, ...sickManifests, ...works, ...rolledOut].some(
      ({ unhealthy, unhealthySince = "", ...more }) =>
        unhealthy !== undefined &&
        unhealthyForMs(
          {
            status: "False",
            reason: "unhealthyReason" in more ? more.unhealthyReason : undefined,
            lastTransitionTime: unhealthySince,
          },
          nowMs,
        ) !== undefined,
    ),
  };
}

/** What members report and has not lasted, such as the verdict of a user's health rule, with its age. */
function unhealthyUntilNow({ members }: DeepReadonly<Explanation>, nowMs: number): string[] {
  const young = members.flatMap(({ cluster, unhealthy, unhealthySince, unhealthyReason, failedRule }) => {
    if (unhealthy === undefined || unhealthySince === undefined || failedRule !== undefined) return [];
    const condition = { status: "False", reason: unhealthyReason, lastTransitionTime: unhealthySince } as const;
    const forMs = unhealthyForMs(condition, nowMs, Number.NEGATIVE_INFINITY);
    return forMs === undefined || unhealthyForMs(condition, nowMs) !== undefined ? [] : [{ cluster, unhealthy, forMs }];
  });
  return Array.from(
    Map.groupBy(young, ({ unhealthy }) => unhealthy),
    ([unhealthy, of]) => {
      const age = formatAge(Math.max(...of.map(({ forMs }) => forMs)));
      return `not healthy on ${nameMembers(of.map(({ cluster }) => cluster))} for ${age}: ${unhealthy}`;
    },
  );
}

/** On the first member of the cause. */
function inspectCommand(copies: readonly CopyRef[], { clusters, hasPods }: Cause): string {
  const copy = copies.find(({ cluster }) => clusters.includes(cluster)) ?? copies[0];
  if (!copy) return "";
  const where = copy.namespace ? ` -n ${copy.namespace}` : "";
  if (hasPods)
    return `'flotilla get pods${where} --clusters ${copy.cluster}' lists the pods there, 'flotilla describe pod/NAME${where}' shows one`;
  const { group } = parseApiVersion(copy.apiVersion);
  const type = `${copy.kind.toLowerCase()}${group ? `.${group}` : ""}`;
  return `'flotilla describe ${type}/${copy.name}${where} --clusters ${copy.cluster}' shows its events there`;
}

/** What to do about a cause, if that is known; empty otherwise. */
function fixOf({ members }: DeepReadonly<Explanation>, copy: CopyRef | undefined, cause: Cause): string {
  if (cause.outdated.length > 0) return `${deleteCommands(cause)}; `;
  if (cause.text.includes("ImagePullBackOff") || cause.text.includes("ErrImagePull")) return "correct the image; ";
  const missing = missingReference(cause.text);
  if (!missing) return "";
  const reference = `${missing.kind} ${missing.name}`;
  if (members.length === 0) return `add ${reference} to the manifests of the ManifestWork; `;
  return (
    `create ${reference} in namespace ${copy?.namespace ?? ""} of the hub, and select it in a policy or set ` +
    "'propagateDeps: true' in the policy of the workload, if the workload names it; "
  );
}

/** Of one cause; the next look names the others. */
const MAX_DELETED = 3;

/** Through the hub, because the user need not have the kubeconfig of the member. */
function deleteCommands({ outdated }: Cause): string {
  const all = outdated.flatMap(({ cluster, namespace, pods }) => pods.map((name) => ({ cluster, namespace, name })));
  const commands = all
    .slice(0, MAX_DELETED)
    .map(({ cluster, namespace, name }) => `'kubectl delete --raw ${podPath(cluster, namespace, name)}'`);
  const more = all.length > MAX_DELETED ? `, and ${all.length - MAX_DELETED} more` : "";
  return `the template has changed, but the member replaces such a pod only when it is deleted: ${commands.join(", ")}${more}`;
}

const podPath = (cluster: string, namespace: string | undefined, name: string): string =>
  proxyPath(cluster) + resourcePath({ cluster, group: "", version: "v1", resource: "pods", namespace, name });

async function readRules(
  { resource: { kind, namespace, name } }: DeepReadonly<Explanation>,
  client: Client,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ what: string; try: string }[]> {
  const events = await readRuleEvents(
    async (fieldSelector) =>
      (
        await client.list(Event, {
          cluster: HUB,
          namespace,
          fieldSelector: `${fieldSelector},involvedObject.name=${name}`,
          signal,
        })
      ).items,
    SILENT_FAILURES,
  );
  const failing = failingNow(
    events.filter((event) => event.kind === kind && event.name === name),
    clock.now(),
  );
  return (await ofExisting(failing, client, signal)).map((failure) => ({
    what: failure.message,
    try: failureAdvice(failure),
  }));
}
