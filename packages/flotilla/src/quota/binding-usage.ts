/** What a binding requests on its members: the requests of a replica times the placed replicas. Pure. */
import { multiplyQuantity, parseQuantity } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { addAmounts, withoutZeros } from "@flotilla/kubernetes";
import type { Amounts } from "@flotilla/kubernetes";
import type { ResourceBinding } from "@flotilla/karmada";

type Binding = DeepReadonly<Pick<ResourceBinding, "spec">>;
type Requests = Readonly<Record<string, string | number>>;

/** A workload with components runs all of them on each of its members. */
export function usageOfBinding({ spec }: Binding): Amounts {
  const { clusters = [], components = [], replicaRequirements } = spec;
  if (components.length > 0)
    return components
      .map(({ replicas, replicaRequirements: required }) =>
        times(required?.resourceRequest, replicas * clusters.length),
      )
      .reduce(addAmounts, new Map());
  return times(
    replicaRequirements?.resourceRequest,
    clusters.reduce((sum, { replicas = 0 }) => sum + replicas, 0),
  );
}

const times = (requests: Requests = {}, count: number): Amounts =>
  withoutZeros(
    new Map(Object.entries(requests).map(([name, amount]) => [name, multiplyQuantity(parseQuantity(amount), count)])),
  );
