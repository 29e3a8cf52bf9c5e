/** What scales a workload, or limits its namespace: autoscalers with their last scaling, and quotas. */
import { HUB, isNotFound, parseApiVersion, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { CronFederatedHpa, FederatedHpa, FederatedResourceQuota } from "@flotilla/karmada";
import { Event } from "@flotilla/kubernetes";
import type { Explanation } from "@flotilla/flotilla";
import { describeAutoscaler, describeCron, reportAutoscaler, reportCron } from "../health/autoscalers.ts";
import { describeQuota, reportQuota } from "../health/federated-quotas.ts";

export interface Scaling {
  lines: string[];
  problems: { what: string; try: string }[];
  notChecked: string[];
}

export async function readScaling(
  { resource, decision, members }: DeepReadonly<Explanation>,
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
): Promise<Scaling> {
  const { namespace } = resource;
  const notChecked = new Set<string>();
  // Only what is scheduled and has replicas is scaled.
  if (!namespace || (!decision && members.length === 0)) return { lines: [], problems: [], notChecked: [] };
  const read = async <T extends KubernetesObject>(
    kind: Kind<T>,
    fieldSelector?: string,
  ): Promise<DeepReadonly<T>[]> => {
    try {
      return await Array.fromAsync(eachObject(client, kind, { cluster: HUB, namespace, fieldSelector, signal }));
    } catch (error) {
      if (isNotFound(error)) return [];
      if (!isForbidden(error)) throw error;
      notChecked.add(`what scales it: you are not allowed to list ${kind.plural}`);
      return [];
    }
  };
  const [autoscalers, crons, quotas] = await Promise.all([
    read(FederatedHpa),
    read(CronFederatedHpa),
    read(FederatedResourceQuota),
  ]);
  const nowMs = clock.now();
  const isTarget = (ref: { apiVersion?: string | undefined; kind: string; name: string }): boolean =>
    ref.kind === resource.kind &&
    ref.name === resource.name &&
    parseApiVersion(ref.apiVersion ?? "").group === parseApiVersion(resource.apiVersion).group;
  const own = autoscalers.filter(({ spec }) => isTarget(spec.scaleTargetRef));
  const ownCrons = crons.filter(
    ({ spec: { scaleTargetRef: ref } }) =>
      isTarget(ref) || (ref.kind === FederatedHpa.kind && own.some(({ metadata }) => metadata.name === ref.name)),
  );
  const events = own.length > 0 ? await read(Event, "reason=SuccessfulRescale") : [];
  const rescales = (name: string): { message: string; atMs: number }[] =>
    events
      .filter(({ involvedObject }) => involvedObject.kind === FederatedHpa.kind && involvedObject.name === name)
      .map(({ message = "", lastTimestamp, eventTime, metadata }) => ({
        message,
        atMs: Date.parse(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ""),
      }));
  // A workload that nothing scales, in a namespace without a quota, has no such section.
  return {
    lines: [
      ...own.flatMap((autoscaler) => describeAutoscaler(autoscaler, rescales(autoscaler.metadata.name), nowMs)),
      ...ownCrons.flatMap((cron) => describeCron(cron, nowMs)),
      ...quotas.map(describeQuota),
    ],
    problems: [
      ...own.flatMap((autoscaler) => named(autoscaler, reportAutoscaler(autoscaler, nowMs))),
      ...ownCrons.flatMap((cron) => named(cron, reportCron(cron, nowMs))),
      ...quotas.flatMap((quota) => named(quota, reportQuota(quota))),
      ...competing(own.map(({ metadata }) => metadata.name)),
    ],
    notChecked: [...notChecked],
  };
}

const named = (
  { kind, metadata }: DeepReadonly<KubernetesObject>,
  reports: readonly { what: string; try: string }[],
): { what: string; try: string }[] =>
  reports.map(({ what, try: remedy }) => ({ what: `${kind} ${metadata.name}: ${what}`, try: remedy }));

const competing = (names: readonly string[]): { what: string; try: string }[] =>
  names.length < 2
    ? []
    : [
        {
          what: `the FederatedHPAs ${names.join(", ")} scale it in turn`,
          try: "keep one of them; it may have several metrics",
        },
      ];
