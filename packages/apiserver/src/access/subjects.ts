/** The subject keys of a user and of a binding. The index of bindings matches one against the other. */
import { accountUser } from "@flotilla/kubernetes";
import type { UserInfo } from "../request/user-info.ts";

export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

const known = new WeakMap<UserInfo, readonly string[]>();

/** Computed once per user object, which a connection or token reuses. */
export function subjectKeys(user: UserInfo): readonly string[] {
  let keys = known.get(user);
  if (!keys) known.set(user, (keys = [`User ${user.name}`, ...user.groups.map((group) => `Group ${group}`)]));
  return keys;
}

/**
 * The index key of a subject; a service account is a user with a derived name. Returns undefined for subjects that
 * cannot match any user. A RoleBinding may omit the namespace of a service account in its own namespace.
 */
export function keyOfSubject(
  { kind, name, namespace }: Subject,
  bindingNamespace: string | undefined,
): string | undefined {
  if (kind === "User" || kind === "Group") return `${kind} ${name}`;
  const home = namespace || bindingNamespace;
  return kind === "ServiceAccount" && home ? `User ${accountUser(home, name)}` : undefined;
}

export function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string | undefined): string {
  return `${kind} ${JSON.stringify(kind === "ServiceAccount" ? `${name}/${namespace || (bindingNamespace ?? "")}` : name)}`;
}
