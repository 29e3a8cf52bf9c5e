/** The names of a type in records: its kind, in decisions, and its plural, in requests. Works without a hub. */
import type { Kind } from "@flotilla/apimachinery";
import { karmadaDefinitions } from "@flotilla/karmada";
import { kubernetesKinds, servedKinds } from "@flotilla/kubernetes";
import { ocmHubKinds } from "@flotilla/ocm";
import { kruiseKinds } from "@flotilla/openkruise";

/** `deploy`, `deployments.apps` and `Deployment` mean the same. A type that is not known means itself. */
export function namesOfType(type: string): ReadonlySet<string> {
  const [first = ""] = type.toLowerCase().split(".");
  return new Set([first, ...kindsOfType(type).flatMap(({ kind, plural }) => [kind.toLowerCase(), plural])]);
}

/** The kinds that a type may mean. */
export function kindsOfType(type: string): Kind[] {
  const [first = "", ...group] = type.toLowerCase().split(".");
  const kinds = [...kubernetesKinds, ...kruiseKinds, ...servedKinds(karmadaDefinitions), ...ocmHubKinds];
  return kinds.filter(
    ({ kind, plural, shortNames = [], group: own }) =>
      (kind.toLowerCase() === first || plural === first || shortNames.includes(first)) &&
      (group.length === 0 || own === group.join(".")),
  );
}
