/** Bindings that no policy selects any longer, or whose policy names only clusters that are not members. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import { namesWithoutMember } from "@flotilla/flotilla";
import { CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";

export interface PolicyRef {
  kind: "PropagationPolicy" | "ClusterPropagationPolicy";
  namespace?: string | undefined;
  name: string;
}

/** One policy with its objects that are not scheduled. */
export interface LostTargets extends PolicyRef {
  /** `Deployment shop/web` */
  objects: string[];
  reason: string;
}

const MAX_OBJECTS = 3;

/** The policy that has claimed a binding; undefined if none has. */
export function policyRefOf({ metadata: { annotations } }: DeepReadonly<ResourceBinding>): PolicyRef | undefined {
  const name = annotations?.[POLICY_NAME];
  if (name !== undefined) return { kind: "PropagationPolicy", namespace: annotations?.[POLICY_NAMESPACE], name };
  const clusterName = annotations?.[CLUSTER_POLICY_NAME];
  return clusterName === undefined ? undefined : { kind: "ClusterPropagationPolicy", name: clusterName };
}

/**
 * No policy selects the object of the binding any longer: it keeps its members with their replicas, until a policy
 * selects it again. Dependencies follow the bindings that require them.
 */
export const isLeftByPolicy = (binding: DeepReadonly<ResourceBinding>): boolean =>
  policyRefOf(binding) === undefined && !binding.spec.requiredBy?.length;

/** What that means for the members that have copies, as the end of a sentence about one object. */
export const LEFT_COPIES = "its members keep their copies, and changed replicas do not reach them";

/** Collects the bindings by policy, so that one mistake is reported once. */
export function createLostTargets(isMember: ((name: string) => boolean) | undefined): {
  /** Whether the binding is not scheduled for this reason. */
  see(binding: DeepReadonly<ResourceBinding>): boolean;
  take(): LostTargets[];
} {
  const groups = new Map<string, { policy: PolicyRef; clusters: string[]; objects: string[] }>();
  return {
    see(binding) {
      const policy = policyRefOf(binding);
      const clusters = policy && isMember ? namesWithoutMember(binding.spec, isMember) : [];
      if (!policy || clusters.length === 0) return false;
      const id = JSON.stringify([policy, clusters]);
      const group = groups.get(id) ?? { policy, clusters, objects: [] };
      const { kind, namespace, name } = binding.spec.resource;
      group.objects.push(`${kind} ${namespace ? `${namespace}/` : ""}${name}`);
      groups.set(id, group);
      return true;
    },
    take() {
      const taken = [...groups.values()].map(({ policy, clusters, objects }) => ({
        ...policy,
        objects,
        reason: `it names ${clusters.join(", ")}, which ${clusters.length === 1 ? "is not a member" : "are not members"}, so ${renderObjects(objects)}`,
      }));
      groups.clear();
      return taken;
    },
  };
}

function renderObjects(objects: readonly string[]): string {
  const more = objects.length > MAX_OBJECTS ? ` and ${objects.length - MAX_OBJECTS} more` : "";
  const count = objects.length === 1 ? "1 object is" : `${objects.length} objects are`;
  return `${count} not scheduled: ${objects.slice(0, MAX_OBJECTS).join(", ")}${more}`;
}
