/** Computes the replicas of the subsets of a UnitedDeployment, and whether they add up. */
import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import type { UnitedDeploymentSubset } from "./uniteddeployment-types.ts";

const AT = "spec.topology.subsets";
const NO_LIMIT = 1_000_000;
/** Replicas that are not set. */
const UNKNOWN = -1;

/** The replicas of a subset as a share of the total, rounded half up; or an error. */
export function subsetReplicas(total: number | undefined, share: IntOrString): { value: number } | { problem: string } {
  if (typeof share === "number")
    return share < 0 ? { problem: `subset replicas (${share}) should not be less than 0` } : { value: share };
  if (total === undefined || total < 0)
    return { problem: `subsetReplicas (${share}) should not be string when unitedDeployment replicas is empty` };
  if (!share.endsWith("%"))
    return { problem: `subset replicas (${share}) only support integer value or percentage value with a suffix '%'` };
  const digits = share.slice(0, -1);
  if (!/^[+-]?\d+$/.test(digits))
    return {
      problem: `subset replicas (${share}) should be correct percentage integer: strconv.ParseInt: parsing ${JSON.stringify(digits)}: invalid syntax`,
    };
  const percent = Number(digits);
  if (Math.abs(percent) >= 2 ** 31)
    return {
      problem: `subset replicas (${share}) should be correct percentage integer: strconv.ParseInt: parsing ${JSON.stringify(digits)}: value out of range`,
    };
  return percent > 100 || percent < 0
    ? { problem: `subset replicas (${share}) should be in range [0, 100]` }
    : { value: Math.floor((total * percent) / 100 + 0.5) };
}

export function checkSubsetReplicas(
  errors: FieldError[],
  total: number | undefined,
  subsets: readonly DeepReadonly<UnitedDeploymentSubset>[],
): void {
  const expected = total ?? UNKNOWN;
  const given = (name: "replicas" | "minReplicas" | "maxReplicas"): number =>
    subsets.filter((subset) => subset[name] !== undefined).length;
  const sums = { replicas: 0, min: 0, max: 0 };
  for (const [index, { replicas, minReplicas, maxReplicas }] of subsets.entries()) {
    // Upstream prints the upper limit for both errors, and names the lower one.
    const read = (
      share: IntOrString | undefined,
      absent: number,
      name: string,
      value: IntOrString | undefined,
    ): number => {
      const result = share === undefined ? { value: absent } : subsetReplicas(expected, share);
      if ("value" in result) return result.value;
      errors.push(field.invalid(`${AT}[${index}].${name}`, value, result.problem));
      return 0;
    };
    sums.replicas += read(replicas, 0, "replicas", replicas);
    const min = read(minReplicas, 0, "minReplicas", maxReplicas);
    const max = read(maxReplicas, NO_LIMIT, "minReplicas", maxReplicas);
    sums.min += min;
    sums.max += max;
    if (min > max)
      errors.push(
        field.invalid(
          `${AT}[${index}].minReplicas`,
          maxReplicas,
          `subset[${index}].minReplicas must be more than or equal to maxReplicas`,
        ),
      );
  }
  const hasLimits = given("minReplicas") + given("maxReplicas") > 0;
  if (hasLimits && given("replicas") > 0)
    errors.push(
      field.invalid(
        AT,
        subsets,
        "subset.Replicas and subset.MinReplicas/subset.MaxReplicas are mutually exclusive in a UnitedDeployment",
      ),
    );
  else if (hasLimits)
    checkLimits(errors, expected, sums, given("maxReplicas") >= subsets.length && given("maxReplicas"));
  else checkSum(errors, expected, sums.replicas, { given: given("replicas"), of: subsets.length });
}

function checkLimits(
  errors: FieldError[],
  expected: number,
  { min, max }: { min: number; max: number },
  limited: number | false,
): void {
  if (expected === UNKNOWN)
    errors.push(
      field.invalid(AT, expected, "spec.replicas must be not empty if you set subset.minReplicas/maxReplicas"),
    );
  if (limited !== false) errors.push(field.invalid(AT, limited, "at least one subset.maxReplicas must be empty"));
  if (min > max)
    errors.push(
      field.invalid(
        AT,
        min,
        "sum of indicated subset.minReplicas should not be greater than sum of indicated subset.maxReplicas",
      ),
    );
}

function checkSum(
  errors: FieldError[],
  expected: number,
  sum: number,
  { given, of }: { given: number; of: number },
): void {
  if (expected === UNKNOWN) {
    if (given !== of)
      errors.push(
        field.invalid(
          AT,
          sum,
          "if UnitedDeployment replicas is not provided, replicas of all subsets should be provided",
        ),
      );
    return;
  }
  if (sum > expected)
    errors.push(
      field.invalid(
        AT,
        sum,
        `sum of indicated subset replicas ${sum} should not be greater than UnitedDeployment replicas ${expected}`,
      ),
    );
  if (given > 0 && given === of && sum !== expected)
    errors.push(
      field.invalid(
        AT,
        sum,
        `if replicas of all subsets are provided, the sum of indicated subset replicas ${sum} should equal UnitedDeployment replicas ${expected}`,
      ),
    );
}
