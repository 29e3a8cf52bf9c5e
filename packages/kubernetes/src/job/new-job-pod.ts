/**
 * A pod of a Job: the template with the finalizer that keeps it until it is counted, and with its index if it has one.
 */
import { defined } from "@flotilla/base";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "../pod/pod-kind.ts";
import type { DeepReadonly, Random } from "@flotilla/base";
import { MAX_PREFIX, generatedPod } from "../pod/pod-from-template.ts";
import { judgeFailure } from "./failure-policy.ts";
import {
  FAILURES_ANNOTATION,
  IGNORED_FAILURES_ANNOTATION,
  INDEX_ANNOTATION,
  TRACKING_FINALIZER,
  failuresBefore,
  indexLimitOf,
} from "./job-pods.ts";
import type { ReadonlyJob } from "./job-pods.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";

/** `replaced` is the last failed pod of the same index. */
export function jobPod(job: ReadonlyJob, random: Random, index?: number, replaced?: ReadonlyPod): DeepReadonly<Pod> {
  const { name } = job.metadata;
  const suffix = `-${index}-`;
  const prefix = index === undefined ? `${name}-` : name.slice(0, MAX_PREFIX - suffix.length) + suffix;
  const pod = generatedPod(job, job.spec?.template, random, prefix);
  const { finalizers = [], labels, annotations } = pod.metadata;
  const tracked: DeepReadonly<Pod> = {
    ...pod,
    metadata: {
      ...pod.metadata,
      finalizers: [...finalizers.filter((each) => each !== TRACKING_FINALIZER), TRACKING_FINALIZER],
    },
  };
  if (index === undefined) return tracked;
  const { containers, initContainers } = pod.spec;
  return {
    ...tracked,
    metadata: {
      ...tracked.metadata,
      labels: { ...labels, [INDEX_ANNOTATION]: String(index) },
      annotations: { ...annotations, [INDEX_ANNOTATION]: String(index), ...failureAnnotations(job, replaced) },
    },
    spec: {
      ...pod.spec,
      containers: containers.map(withIndexVariable),
      ...defined({ initContainers: initContainers?.map(withIndexVariable) }),
      hostname: `${name}-${index}`,
    },
  };
}

function withIndexVariable(container: DeepReadonly<Container>): DeepReadonly<Container> {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  return {
    ...container,
    env: [
      ...env,
      { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` } } },
    ],
  };
}

/** Each pod of an index records the previous failures of the index. */
function failureAnnotations(job: ReadonlyJob, replaced: ReadonlyPod | undefined): Record<string, string> {
  if (indexLimitOf(job) === undefined) return {};
  let { counted, ignored } = replaced ? failuresBefore(replaced) : { counted: 0, ignored: 0 };
  if (replaced && judgeFailure(job.spec?.podFailurePolicy, replaced).counts) counted++;
  else if (replaced) ignored++;
  return {
    [FAILURES_ANNOTATION]: String(counted),
    ...defined({ [IGNORED_FAILURES_ANNOTATION]: ignored > 0 ? String(ignored) : undefined }),
  };
}
