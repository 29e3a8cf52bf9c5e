/** The names of a type in records: its kind, in decisions, and its plural, in requests. Works without a hub. */
import { karmadaDefinitions } from "@flotilla/karmada";
import { kubernetesKinds, servedKinds } from "@flotilla/kubernetes";
import { ocmHubKinds } from "@flotilla/ocm";
import { kruiseKinds } from "@flotilla/openkruise";

/** `deploy`, `deployments.apps` and `Deployment` mean the same. A type that is not known means itself. */
export function namesOfType(type: string): ReadonlySet<string> {
  const [first = "", ...group] = type.toLowerCase().split(".");
  const kinds = [...kubernetesKinds, ...kruiseKinds, ...servedKinds(karmadaDefinitions), ...ocmHubKinds];
  const found = kinds.filter(
    ({ kind, plural, shortNames = [], group: own }) =>
      (kind.toLowerCase() === first || plural === first || shortNames.includes(first)) &&
      (group.length === 0 || own === group.join(".")),
  );
  return new Set([first, ...found.flatMap(({ kind, plural }) => [kind.toLowerCase(), plural])]);
}
