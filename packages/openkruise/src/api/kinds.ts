/** OpenKruise's kinds, and which of their CRDs the server can serve without conversion webhooks. */
import type { DeepReadonly } from "@flotilla/base";
import type { Kind } from "@flotilla/apimachinery";
import { AdvancedDaemonSet } from "./advanced-daemon-set.ts";
import { AdvancedStatefulSet } from "./advanced-stateful-set.ts";
import { BroadcastJob } from "./broadcast-job.ts";
import { CloneSet } from "./clone-set.ts";
import { PodUnavailableBudget } from "./pod-unavailable-budget.ts";
import { SidecarSet } from "./sidecar-set.ts";
import { UnitedDeployment } from "./united-deployment.ts";

export const kruiseKinds: readonly Kind[] = [
  CloneSet,
  AdvancedStatefulSet,
  AdvancedDaemonSet,
  SidecarSet,
  UnitedDeployment,
  BroadcastJob,
  PodUnavailableBudget,
];

interface Declared {
  group: string;
  names: { kind: string };
  versions: { name: string }[];
}

/** True when the server can convert between all versions of a CRD itself. */
export function convertsWithoutWebhook({ group, names, versions }: DeepReadonly<Declared>): boolean {
  const known = kruiseKinds.find((kind) => kind.group === group && kind.kind === names.kind);
  return known !== undefined && versions.every(({ name }) => Object.hasOwn(known.versions, name));
}
