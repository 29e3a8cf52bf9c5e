/** Which node a user is: the kubelet of node `n1` is `system:node:n1` in the group `system:nodes`. */
import type { UserInfo } from "../request/user-info.ts";

export const NODE_PREFIX = "system:node:";
export const NODES_GROUP = "system:nodes";

/** The name of the node, which may be empty; undefined for a user that is not a node. */
export function nodeOf({ name, groups }: Pick<UserInfo, "name" | "groups">): string | undefined {
  return name.startsWith(NODE_PREFIX) && groups.includes(NODES_GROUP) ? name.slice(NODE_PREFIX.length) : undefined;
}
