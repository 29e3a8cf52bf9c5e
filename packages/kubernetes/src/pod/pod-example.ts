/** Pod templates in the examples of workloads. */
import type { JsonObject } from "@flotilla/base";

const spec: JsonObject = { containers: [{ name: "web", image: "web:1" }] };

export const exampleTemplate = { metadata: { labels: { app: "web" } }, spec } satisfies JsonObject;

export const exampleWorkload = {
  selector: { matchLabels: { app: "web" } },
  template: exampleTemplate,
} satisfies JsonObject;

export const exampleJobTemplate = { spec: { ...spec, restartPolicy: "Never" } } satisfies JsonObject;
