/** Who shares a budget: bytes of bodies, turns of large requests. */
import { accountOfUser } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";

/**
 * The client that a request counts for. An administrator of a logical cluster makes any number of users there, and one
 * of a namespace any number of service accounts, so all of them count as one.
 */
export function clientKeyOf(cluster: string, user: string): string {
  if (cluster !== HUB) return `cluster ${cluster}`;
  const account = accountOfUser(user);
  return account ? `namespace ${account.namespace}` : `user ${user}`;
}
