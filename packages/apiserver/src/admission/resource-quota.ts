/**
 * ResourceQuota: charges a namespace's quota before an object is stored. `status.used` is updated with compare-and-set,
 * so two requests can never both take the rest. The charge for an object that could not be stored is released; the
 * quota controller accounts for deletions.
 */
import {
  addAmounts,
  chargeQuotas,
  exceededText,
  onlyAmounts,
  quotaEvaluatorOf,
  quotaMatches,
  readAmounts,
  ResourceQuota,
  subtractAmounts,
  withoutZeros,
  writeAmounts,
} from "@flotilla/kubernetes";
import { refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, KubernetesObject, RequestInfo, Review } from "@flotilla/apimachinery";
import type { Amounts, QuotaEvaluator } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

type Quota = DeepReadonly<ResourceQuota>;
type Request = Review<KubernetesObject>;

function evaluatorFor({ kind, namespace, operation, subresource }: RequestInfo): QuotaEvaluator | undefined {
  if (operation === "DELETE" || namespace === undefined) return undefined;
  const evaluator = quotaEvaluatorOf(kind.group, kind.plural);
  return evaluator?.handles(operation, subresource) ? evaluator : undefined;
}

const hardOf = ({ status }: Quota): string[] => Object.keys(status?.hard ?? {});

/**
 * The amounts that the request adds to a quota; undefined when the quota does not count the object. Throws when the
 * object cannot be counted.
 */
function chargeOf(
  quota: Quota,
  evaluator: QuotaEvaluator,
  request: Request,
  usage: Amounts,
  former: Amounts | undefined,
): Amounts | undefined {
  const { object, oldObject } = request;
  const hard = hardOf(quota);
  if (!quotaMatches(quota, hard, evaluator, object)) return undefined;
  const counted = hard.filter((name) => evaluator.counts(name));
  const problem = evaluator.problem?.(object, new Set(counted));
  if (problem !== undefined) throw refusal(request, `failed quota: ${quota.metadata.name}: ${problem}`);
  const { used = {} } = quota.status ?? {};
  if (counted.some((name) => used[name] === undefined))
    throw refusal(request, `status unknown for quota: ${quota.metadata.name}, resources: ${counted.sort().join(",")}`);
  const added =
    oldObject && former && quotaMatches(quota, hard, evaluator, oldObject) ? subtractAmounts(usage, former) : usage;
  const charge = onlyAmounts(withoutZeros(added), new Set(hard));
  return charge.size > 0 ? charge : undefined;
}

/** The usage after a charge. Throws when it exceeds the quota. */
function charged(quota: Quota, charge: Amounts, request: Request): Amounts {
  const used = readAmounts(quota.status?.used);
  const hard = readAmounts(quota.status?.hard);
  // A status update reports something that has already happened; it is counted and not rejected.
  const exceeded =
    request.subresource === "status" ? undefined : exceededText(quota.metadata.name, { charge, used, hard });
  if (exceeded !== undefined) throw refusal(request, exceeded);
  return addAmounts(used, charge);
}

/** The charges of all quotas that count the object. */
function chargesOf(request: Request): Map<Quota, Amounts> {
  const { subresource, namespace, object, oldObject, read } = request;
  const charges = new Map<Quota, Amounts>();
  const evaluator = evaluatorFor(request);
  if (
    !evaluator ||
    (oldObject && evaluator.concerns && subresource === undefined && !evaluator.concerns(object, oldObject))
  )
    return charges;
  const quotas = read.list(ResourceQuota, namespace);
  if (quotas.length === 0) return charges;
  // Pods that exceed their deletion grace period still count here; only the quota controller excludes them.
  const usage = evaluator.usage(object, 0);
  const former = oldObject && evaluator.usage(oldObject, 0);
  for (const quota of quotas) {
    const charge = chargeOf(quota, evaluator, request, usage, former);
    if (charge) charges.set(quota, charge);
  }
  return charges;
}

const withUsed = ({ status }: Quota, used: Amounts): object => ({ ...status, used: writeAmounts(used) });

/** The status after a charge was undone. A quota that no longer counts a resource keeps nothing of it. */
function released({ status }: Quota, charge: Amounts): object {
  const { hard, used } = status ?? {};
  const left = subtractAmounts(readAmounts(used), onlyAmounts(charge, new Set(Object.keys(hard ?? {}))));
  return { ...status, used: writeAmounts(left) };
}

export const resourceQuota: AdmissionStep = {
  name: "ResourceQuota",
  for: ({ scope }) => scope === "Namespaced",
  on: ["CREATE", "UPDATE"],
  matches: (request) => evaluatorFor(request) !== undefined,

  reservesInDryRuns: true,

  // A dry run is rejected like a real request, also one that reserves nothing.
  check(request) {
    if (!request.dryRun) return;
    for (const [quota, charge] of chargesOf(request)) charged(quota, charge, request);
  },

  reserve: (request, write) =>
    chargeQuotas<ResourceQuota>(
      {
        kind: ResourceQuota,
        charges: [...chargesOf(request)],
        charged: (stored, charge) => withUsed(stored, charged(stored, charge, request)),
        released,
      },
      write,
    ),
};
