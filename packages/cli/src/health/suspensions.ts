/** What a binding suspends, in words. Pure. */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";

export function suspensionsOf({ suspension }: DeepReadonly<Pick<ResourceBinding["spec"], "suspension">>): string[] {
  const { scheduling, dispatching, dispatchingOnClusters } = suspension ?? {};
  const clusters = dispatchingOnClusters?.clusterNames ?? [];
  return [
    ...(scheduling ? ["scheduling is suspended"] : []),
    ...(dispatching ? ["dispatching is suspended, so members do not receive changes"] : []),
    ...(clusters.length > 0
      ? [`dispatching to ${clusters.join(", ")} is suspended, so these members do not receive changes`]
      : []),
  ];
}
