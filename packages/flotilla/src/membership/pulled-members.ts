/**
 * Members that pull. Their agents apply works and report status, so the hub delivers nothing to them. Requests through
 * the Cluster's proxy and what informers show still come from a source that reaches them, if one does.
 */
import { connectionOf } from "./member.ts";
import type { Member, MemberSource } from "./member.ts";

export function createPulledMembers(reached: MemberSource): MemberSource {
  // One object per member: controllers compare members by identity.
  const withoutDelivery = new WeakMap<Member, Member>();
  return {
    find(cluster) {
      if (cluster.spec.syncMode !== "Pull") return undefined;
      const found = connectionOf(reached.find(cluster));
      if (!found)
        return {
          problem: `cluster ${cluster.metadata.name} uses pull mode: its agent connects to the hub, which has no connection to the cluster`,
        };
      let pulled = withoutDelivery.get(found);
      if (!pulled) withoutDelivery.set(found, (pulled = { ...found, delivery: undefined }));
      return pulled;
    },
    // The reached source notifies its own listeners.
    listen: () => () => {},
    async close() {},
  };
}
