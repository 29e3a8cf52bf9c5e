/**
 * What a cluster that joins may be called, told before anybody is asked: a hub would refuse the name again and again.
 * Pure.
 */
import { UsageError } from "../../base/index.ts";
import { dnsLabelProblems } from "../../machinery/index.ts";

/** Throws `UsageError` for a name that no namespace of the hub could have. `meaning` says what the name is for. */
export function checkClusterName(name: string | undefined, meaning: string): asserts name is string {
  if (!name) throw new UsageError(`--cluster-name NAME is missing: ${meaning}`);
  if (dnsLabelProblems(name).length > 0)
    throw new UsageError(
      `--cluster-name '${name}' cannot be the name of a cluster: it has lower-case letters, digits and '-', begins and ends with a letter or digit, and has at most 63 characters`,
    );
}
