/** Defaults and validation of Job. */
import { defined } from "@flotilla/base";
import { JOB_UID_LABEL, JOB_NAME_LABEL } from "../well-known-names.ts";
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  checkSelector,
  dnsLabelProblems,
  field,
  fill,
  labelSelectorOf,
  matchesLabels,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { checkSelects, isSettled, specWarnings } from "../workloads/workload-rules.ts";
import { hostnameWarning } from "../pod/pod-warnings.ts";
import { checkJobSpec, defaultJobSpec, jobSpecWarnings, type JobSpec } from "./job-spec.ts";
import { checkJobStatus } from "./job-status.ts";
import { checkJobUpdate } from "./job-update.ts";
import { Job } from "./job-kind.ts";

type Read = DeepReadonly<Job>;

/** The template's labels are also the default for the Job's own labels. */
function complete(job: Read): Read {
  const result = change(job, "spec", defaultJobSpec);
  const labels = result.spec?.template?.metadata?.labels;
  return labels ? change(result, "metadata", (metadata) => fill(metadata, { labels })) : result;
}

const NAME_LABELS = ["job-name", JOB_NAME_LABEL];
const UID_LABELS = ["controller-uid", JOB_UID_LABEL];

/** Unless manualSelector is set, a Job selects its pods by its own uid. */
function prepare(job: Read, { operation }: Review<Job>): Read {
  const { metadata, spec } = job;
  if (operation !== "CREATE" || !spec || spec.manualSelector) return job;
  const { name, uid = "" } = metadata;
  const given = spec.template?.metadata?.labels;
  const own = fill(
    { ...given },
    {
      ...Object.fromEntries(NAME_LABELS.map((key) => [key, name])),
      ...Object.fromEntries(UID_LABELS.map((key) => [key, uid])),
    },
  );
  const matchLabels = fill({ ...spec.selector?.matchLabels }, { [JOB_UID_LABEL]: uid });
  // When the Job takes its labels from the template, it gets the labels added to the template too.
  const sharesLabels = !metadata.labels || metadata.labels === given;
  return {
    ...job,
    metadata: { ...metadata, ...defined({ labels: sharesLabels ? own : undefined }) },
    spec: {
      ...spec,
      selector: { ...spec.selector, matchLabels },
      template: { ...spec.template, metadata: { ...spec.template?.metadata, labels: own } },
    },
  };
}

function checkJob({ object, oldObject, settled }: Review<Job>): FieldError[] {
  const errors: FieldError[] = [];
  const spec: JobSpec = object.spec ?? { template: {} };
  const templateSettled = isSettled(spec, settled?.spec);
  const hadOwnLabels = UID_LABELS.concat(NAME_LABELS).every(
    (key) => !key.includes("/") || oldObject?.spec?.template?.metadata?.labels?.[key] !== undefined,
  );
  checkGeneratedSelector(errors, object, !oldObject || hadOwnLabels);
  checkSelectedSpec(errors, spec, templateSettled);
  if (spec.completionMode === "Indexed" && (spec.completions ?? 0) > 0) {
    // Pods are named after the Job and their index.
    const longest = `${object.metadata.name}-${(spec.completions ?? 0) - 1}`;
    if (dnsLabelProblems(longest).length > 0)
      errors.push(
        field.invalid(
          "metadata.name",
          object.metadata.name,
          `will not able to create pod with invalid DNS label: ${longest}`,
        ),
      );
  }
  if (oldObject) {
    // Upstream validates the whole spec again on update.
    checkSelectedSpec(errors, spec, templateSettled);
    checkJobUpdate(errors, object, oldObject);
  }
  return errors;
}

function checkSelectedSpec(errors: FieldError[], spec: JobSpec, templateSettled: boolean): void {
  checkJobSpec(errors, "spec", spec, templateSettled);
  const problems = checkSelector("spec.selector", spec.selector);
  if (!spec.selector) errors.push(field.required("spec.selector"));
  errors.push(...problems);
  if (problems.length === 0) checkSelects(errors, "spec.template", spec.selector, spec.template);
}

/** A generated selector must match the expected one, regardless of how much of it the client sent. */
function checkGeneratedSelector(errors: FieldError[], { metadata, spec }: Read, requirePrefixed: boolean): void {
  if (!spec?.selector || spec.manualSelector) return;
  const { name, uid = "" } = metadata;
  if (uid === "") errors.push(field.required("metadata.uid"));
  const labels = spec.template?.metadata?.labels;
  const expected: Record<string, string> = {};
  for (const [key, value] of [
    ["controller-uid", uid],
    ["job-name", name],
    [JOB_UID_LABEL, uid],
    [JOB_NAME_LABEL, name],
  ] as const) {
    if (key.includes("/") && !requirePrefixed) continue;
    expected[key] = value;
    const path = `spec.template.metadata.labels[${key}]`;
    if (labels?.[key] === undefined) errors.push(field.required(path, `must be '${value}'`));
    else if (labels[key] !== value) errors.push(field.invalid(path, labels, `must be '${value}'`));
  }
  if (
    checkSelector("spec.selector", spec.selector).length === 0 &&
    !matchesLabels(labelSelectorOf(spec.selector), expected)
  ) {
    errors.push(field.invalid("spec.selector", spec.selector, "`selector` not auto-generated"));
  }
}

export const rules: AnyAdmission[] = [
  builtInAdmission(Job, "batch-v1", {
    complete,
    prepare,
    validate: checkJob,
    validateStatus: ({ object, oldObject }) => (oldObject ? checkJobStatus(object, oldObject) : []),
    warnings: (review) =>
      specWarnings(review, () => [
        ...(review.operation === "CREATE" ? hostnameWarning(review.object.metadata.name) : []),
        ...jobSpecWarnings("spec", review.object.spec ?? { template: {} }),
      ]),
  }),
];
