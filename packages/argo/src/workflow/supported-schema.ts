/** The schema of the supported part of a Workflow's spec. All other fields are reported as unsupported. */
import { compileSchema } from "@flotilla/apimachinery";
import type { Schema } from "@flotilla/apimachinery";
import { POD_FIELDS } from "./pods.ts";

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const count: Schema = { type: "integer", minimum: 0 };
const anything: Schema = { "x-kubernetes-preserve-unknown-fields": true };
const someObject: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const intOrText: Schema = { "x-kubernetes-int-or-string": true };
/** Realistic lists are shorter, and every reconcile of a Workflow walks them. */
const MAX_ITEMS = 500;
const listOf = (items: Schema): Schema => ({ type: "array", items, maxItems: MAX_ITEMS });
const mapOf = (values: Schema): Schema => ({ type: "object", additionalProperties: values });
const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: "object",
  properties,
  required: required.length > 0 ? required : undefined,
});

const parameters: Schema = object({
  parameters: listOf(
    object(
      {
        name: { ...text, minLength: 1 },
        value: anything,
        default: anything,
        enum: listOf(anything),
        description: text,
      },
      ["name"],
    ),
  ),
});
const metadata: Schema = object({ labels: mapOf(text), annotations: mapOf(text) });
const podFields: Record<string, Schema> = Object.fromEntries(POD_FIELDS.map((field) => [field, anything]));
const NAME: Schema = { ...text, pattern: "^[A-Za-z0-9][-_A-Za-z0-9]*$", maxLength: 128 };

const step: Record<string, Schema> = {
  name: NAME,
  template: text,
  arguments: parameters,
  when: text,
  withItems: listOf(anything),
  withParam: text,
  continueOn: object({ error: flag, failed: flag }),
};

const retryStrategy: Schema = object({
  limit: intOrText,
  retryPolicy: { ...text, enum: ["", "Always", "OnFailure", "OnError", "OnTransientError"] },
  backoff: object({ duration: text, factor: intOrText, maxDuration: text, cap: text }),
});

const template: Schema = object(
  {
    name: NAME,
    inputs: parameters,
    // Simulated containers have no outputs.
    outputs: object({}),
    metadata,
    container: someObject,
    steps: listOf(listOf(object(step, ["name"]))),
    dag: object(
      {
        target: text,
        failFast: flag,
        tasks: listOf(object({ ...step, dependencies: listOf(NAME), depends: text }, ["name"])),
      },
      ["tasks"],
    ),
    suspend: object({ duration: text }),
    retryStrategy,
    activeDeadlineSeconds: intOrText,
    parallelism: count,
    // Waiting items start even after a failure.
    failFast: { ...flag, enum: [false] },
    initContainers: listOf(someObject),
    volumes: listOf(someObject),
    ...podFields,
  },
  ["name"],
);

const spec: Schema = object(
  {
    entrypoint: text,
    onExit: text,
    templates: listOf(template),
    arguments: parameters,
    suspend: flag,
    shutdown: { ...text, enum: ["", "Stop", "Terminate"] },
    parallelism: count,
    activeDeadlineSeconds: count,
    ttlStrategy: object({ secondsAfterCompletion: count, secondsAfterSuccess: count, secondsAfterFailure: count }),
    podGC: object({
      strategy: { ...text, enum: ["", "OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess"] },
    }),
    podMetadata: metadata,
    podPriorityClassName: text,
    volumes: listOf(someObject),
    ...podFields,
  },
  ["entrypoint", "templates"],
);

/** For an object with the spec in its field `spec`. */
export const supportedSchema = compileSchema(object({ spec }, ["spec"]));
