/** The members that an agent serves: one real cluster, or any number of simulated ones in the hub's process. */
import type { MemberAccess } from "../membership/membership-controller.ts";
import type { WorkMember } from "../ocm/work/member-objects.ts";
import type { Informers } from "@flotilla/controller-runtime";

export interface AgentMembers {
  /** Whether this agent serves the given pull cluster. */
  serves(cluster: string): boolean;
  /** The uid of its kube-system namespace, or another unique id. */
  idOf(cluster: string): string;
  accessTo(cluster: string): MemberAccess;
  /** Delivers manifests to the member; undefined when there is no such member. */
  memberFor(cluster: string): WorkMember | undefined;
  /** Their nodes and pods. */
  summary: Informers;
  /** Their full objects, as `memberFor` returns them. */
  objects: Informers;
  /** Calls back when the kinds that a member serves may have changed, until the returned function is called. */
  onServed(report: (cluster: string) => void): () => void;
}
