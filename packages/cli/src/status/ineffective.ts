/** Counts the parts of policies that have no effect: no problem by themselves, and often a mistake. */
import { FlotillaError } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { typesOfHub } from "../members/types-of-hub.ts";
import { findPolicyParts, servedKindsOf } from "../health/ineffective-parts.ts";
import type { Policy } from "../health/ineffective-parts.ts";
import { readTiedObjects } from "../health/tied-objects.ts";
import type { Ineffective, UnhealthySummary } from "./fleet-status.ts";
import { referenceTitle, isForbidden } from "@flotilla/apimachinery";

/** What of a policy decides whether its parts have an effect. */
export function slimPolicy(policy: Policy): Policy {
  const { apiVersion, kind, metadata, spec, status } = policy;
  const { namespace, name, deletionTimestamp } = metadata;
  const { resourceSelectors, placement, priority } = spec;
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, deletionTimestamp },
    spec: { resourceSelectors, placement, priority },
    status: { matched: status?.matched },
  };
}

export interface IneffectiveQuestion {
  client: Client;
  signal: AbortSignal;
  policies: readonly Policy[];
  /** Names of the members. */
  joined: ReadonlySet<string>;
  unhealthy: UnhealthySummary;
}

/** Undefined if it could not be checked. */
export async function readIneffective(question: IneffectiveQuestion): Promise<Ineffective | undefined> {
  const { client, signal, policies, joined, unhealthy } = question;
  if (policies.length === 0) return { parts: 0, policies: 0 };
  // The policies that are listed as unhealthy for this reason.
  const misdirecting = new Set(
    unhealthy.worst
      .filter(({ problem }) => problem === "policy without members")
      .map((object) => referenceTitle(object)),
  );
  try {
    const types = await typesOfHub(client, signal);
    const served = servedKindsOf(types);
    const tied = await readTiedObjects(policies, types, client, signal);
    const found = findPolicyParts({ policies, joined, served, findTied: tied.find, misdirecting }).filter(
      ({ ineffective }) => ineffective.length > 0,
    );
    return {
      parts: found.reduce((sum, { ineffective }) => sum + ineffective.length, 0),
      policies: found.length,
      unseen: tied.unseen,
    };
  } catch (error) {
    if (error instanceof FlotillaError && isForbidden(error.cause)) return undefined;
    throw error;
  }
}
