/** Whether an object can have a binding and Works: their names follow from its own, and names have limits. */
import { bindingName, workName } from "../api/index.ts";
import { dnsSubdomainProblems } from "../machinery/index.ts";

const MAX_NAME = 253;

/**
 * Why not, in a sentence that says what to do; undefined when it can. Karmada's way of deriving names makes them
 * longer, and the names of some kinds, such as ClusterRole, may contain what theirs may not.
 */
export function derivedNameProblem(kind: string, namespace: string, name: string): string | undefined {
  const derived = [bindingName(kind, name), workName(kind, name, namespace)];
  const longest = Math.max(...derived.map(({ length }) => length));
  if (longest > MAX_NAME)
    return `its name has ${name.length} characters, which is too long: the names of its binding and of its Works follow from it and would have up to ${longest}, of ${MAX_NAME} that there may be; shorten it by ${longest - MAX_NAME}`;
  if (derived.every((each) => dnsSubdomainProblems(each).length === 0)) return undefined;
  return `its name has characters that the names of its binding and of its Works, which follow from it, may not have: letters, digits, "-", "." and ":" are fine; rename it`;
}
