/**
 * Resource models: grades of nodes by their resources, from which a member counts how many nodes of each grade are
 * free. Grades are gapless ranges from zero to the largest number.
 */
import type { DeepReadonly } from "@flotilla/base";
import {
  changeItems,
  checkNotNegative,
  compareQuantities,
  field,
  parseQuantity,
  quantityValue,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { ResourceModel } from "@flotilla/apimachinery/facts/cluster-karmada-v1alpha1.ts";

type Models = readonly DeepReadonly<ResourceModel>[];
type Range = DeepReadonly<ResourceModel["ranges"][number]>;

/** The end of the last grade: the largest int64. */
const UNLIMITED = "9223372036854775807";

const CPUS = ["0", "1", "2", "4", "8", "16", "32", "64", "128", UNLIMITED];
const MEMORIES = ["0", "4Gi", "16Gi", "32Gi", "64Gi", "128Gi", "256Gi", "512Gi", "1Ti", UNLIMITED];

/** The models of a Cluster that has none. */
export const DEFAULT_MODELS: Models = CPUS.slice(1).map((max, grade) => ({
  grade,
  ranges: [
    { name: "cpu", min: CPUS[grade] ?? "0", max },
    { name: "memory", min: MEMORIES[grade] ?? "0", max: MEMORIES[grade + 1] ?? UNLIMITED },
  ],
}));

/**
 * Returns the models sorted by grade, starting at zero and open at the end regardless of the given values; a model
 * without ranges gets an empty list. Returns the same list when nothing changes.
 */
export function standardModels(given: Models): Models {
  const models = changeItems<ResourceModel>(given, (model) => (model.ranges ? model : { ...model, ranges: [] }));
  const sorted = models.every(({ grade }, index) => index === 0 || grade >= (models[index - 1]?.grade ?? 0))
    ? models
    : models.toSorted((a, b) => a.grade - b.grade);
  const last = sorted.length - 1;
  const begun = withRanges(sorted, 0, (range) => (range.min === "0" ? range : { ...range, min: "0" }));
  return withRanges(begun, last, (range) => (range.max === UNLIMITED ? range : { ...range, max: UNLIMITED }));
}

function withRanges(models: Models, index: number, edit: (range: Range) => Range): Models {
  const model = models[index];
  if (!model) return models;
  const ranges = changeItems(model.ranges, edit);
  return ranges === model.ranges ? models : models.with(index, { ...model, ranges });
}

/**
 * The first error, with Karmada's message. Ranges are adjacent when their amounts are equal, regardless of notation.
 */
export function checkModels(path: string, models: Models): FieldError[] {
  const negative = models.flatMap(({ grade }, index) => checkNotNegative(`${path}[${index}].grade`, grade));
  if (negative.length > 0) return negative;
  const problem = modelsProblem(models);
  return problem === undefined ? [] : [field.invalid(path, models.map(shown), problem)];
}

function modelsProblem(models: Models): string | undefined {
  for (const [index, { grade, ranges }] of models.entries()) {
    const before = models[index - 1];
    if (before?.grade === grade) return "The grade of each models should not be the same";
    if (before && before.ranges.length !== ranges.length) return "The number of resource types should be the same";
    for (const [place, range] of ranges.entries()) {
      const problem = rangeProblem(range, before?.ranges[place], index === models.length - 1);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function rangeProblem({ name, min, max }: Range, before: Range | undefined, isLast: boolean): string | undefined {
  const [from, to] = [parseQuantity(min), parseQuantity(max)];
  if (compareQuantities(to, from) <= 0) return "The max value of each resource must be greater than the min value";
  if (!before) {
    if (quantityValue(from) !== 0n) return "The min value of each resource in the first model should be 0";
  } else if (before.name !== name) return "The resource types of each models should be the same";
  else if (compareQuantities(parseQuantity(before.max), from) !== 0)
    return "Model intervals for resources must be contiguous and non-overlapping";
  return isLast && quantityValue(to) !== BigInt(UNLIMITED)
    ? "The max value of each resource in the last model should be MaxInt64"
    : undefined;
}

/** Error messages print Karmada's in-memory form, with capitalized field names. */
const shown = ({ grade, ranges }: DeepReadonly<ResourceModel>): object => ({
  Grade: grade,
  Ranges: ranges.map(({ name, min, max }) => ({ Name: name, Min: min, Max: max })),
});
