/** Names the autoscalers of the hub that decide the replicas of what a plan changes. */
import { HUB, isNotFound, parseApiVersion, isForbidden } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { FederatedHpa } from "@flotilla/karmada";
import type { MemberChange } from "@flotilla/flotilla";

type Ref = MemberChange["object"];

/** `changed` are objects of the plan. One note for each that an autoscaler scales. */
export async function federatedScaling(
  client: Client,
  changed: readonly Ref[],
  signal: AbortSignal,
): Promise<string[]> {
  const notes = new Set<string>();
  for (const [namespace, refs] of Map.groupBy(changed, (ref) => ref.namespace)) {
    if (namespace === undefined) continue;
    try {
      const { items } = await client.list(FederatedHpa, { cluster: HUB, namespace, signal });
      for (const ref of refs)
        for (const autoscaler of items) if (isTarget(autoscaler, ref)) notes.add(noteOf(ref, autoscaler));
    } catch (error) {
      if (isForbidden(error))
        notes.add(
          `not checked whether a FederatedHPA decides replicas in ${namespace}: you may not list federatedhpas there`,
        );
      else if (!isNotFound(error)) throw error; // A hub without the kind has none.
    }
  }
  return [...notes];
}

const isTarget = ({ spec: { scaleTargetRef: target } }: DeepReadonly<FederatedHpa>, ref: Ref): boolean =>
  target.kind === ref.kind &&
  target.name === ref.name &&
  parseApiVersion(target.apiVersion ?? "").group === parseApiVersion(ref.apiVersion).group;

function noteOf({ kind, namespace = "", name }: Ref, { metadata, spec }: DeepReadonly<FederatedHpa>): string {
  const { minReplicas = 1, maxReplicas } = spec;
  return (
    `${kind} ${namespace}/${name}: FederatedHPA ${metadata.name} decides its replicas, from ${minReplicas} to ` +
    `${maxReplicas}, so the replicas of this plan may change again, and the members that get it with what it depends on`
  );
}
