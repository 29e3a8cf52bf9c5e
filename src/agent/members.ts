/** The members that an agent serves: one on a real cluster, any number of simulated ones in the hub's process. */
import type { MemberAccess } from "../membership/index.ts";
import type { WorkMember } from "../ocm/index.ts";
import type { Informers } from "../runtime/index.ts";

export interface AgentMembers {
  /** Whether a cluster that pulls does so through this agent. */
  serves(cluster: string): boolean;
  /** The uid of its namespace kube-system, or what else tells it from others. */
  idOf(cluster: string): string;
  accessTo(cluster: string): MemberAccess;
  /** How manifests get there; undefined when it is not there. */
  memberFor(cluster: string): WorkMember | undefined;
  /** Their nodes and pods. */
  summary: Informers;
  /** Their objects as `memberFor` shows them, whole. */
  objects: Informers;
  /** Calls back when one of them may serve other kinds than before, until the returned function is called. */
  onServed(tell: (cluster: string) => void): () => void;
}
