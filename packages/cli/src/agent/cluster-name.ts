/**
 * Validates the name of a cluster that joins before any request is sent: the hub would reject an invalid name on every
 * retry. Pure.
 */
import { UsageError } from "@flotilla/base";
import { dnsLabelProblems } from "@flotilla/apimachinery";

/** Throws `UsageError` for a name that is not a valid namespace name. `meaning` explains what the name is for. */
export function checkClusterName(name: string | undefined, meaning: string): asserts name is string {
  if (!name) throw new UsageError(`--cluster-name NAME is required: ${meaning}`);
  if (dnsLabelProblems(name).length > 0)
    throw new UsageError(
      `--cluster-name '${name}' is not a valid cluster name: it must consist of lower-case letters, digits and ` +
        "'-', start and end with a letter or digit, and be at most 63 characters long",
    );
}
