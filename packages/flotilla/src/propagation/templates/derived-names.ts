/** Whether an object can have a binding and Works: their names are derived from its own, and names have limits. */
import { dnsSubdomainProblems } from "@flotilla/apimachinery";
import { bindingName, workName } from "@flotilla/karmada";

const MAX_NAME = 253;

/**
 * The problem with instructions; undefined when there is none. Karmada's derived names are longer, and the names of
 * some kinds, such as ClusterRole, may contain characters that derived names may not.
 */
export function derivedNameProblem(kind: string, namespace: string, name: string): string | undefined {
  const derived = [bindingName(kind, name), workName(kind, name, namespace)];
  const longest = Math.max(...derived.map(({ length }) => length));
  if (longest > MAX_NAME)
    return (
      `its name has ${name.length} characters, which is too long: the derived names of its binding and Works ` +
      `would have up to ${longest} characters, but at most ${MAX_NAME} are allowed; shorten it ` +
      `by ${longest - MAX_NAME}`
    );
  if (derived.every((each) => dnsSubdomainProblems(each).length === 0)) return undefined;
  return (
    "its name contains characters that the derived names of its binding and Works may not contain: letters, " +
    `digits, "-", "." and ":" are allowed; rename it`
  );
}
