/** Which node a user is: the kubelet of node `n1` is `system:node:n1` in the group `system:nodes`. */
import { NODES_GROUP, NODE_PREFIX } from "@flotilla/kubernetes";
import type { UserInfo } from "../request/user-info.ts";

/** The name of the node, which may be empty; undefined for a user that is not a node. */
export function nodeOf({ name, groups }: Pick<UserInfo, "name" | "groups">): string | undefined {
  return name.startsWith(NODE_PREFIX) && groups.includes(NODES_GROUP) ? name.slice(NODE_PREFIX.length) : undefined;
}
