import { expect, test } from "vitest";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { IN_PLACE_STATE_ANNOTATION } from "./sidecarset-names.ts";
import { formatUpdateStates, readUpdateStates } from "./records.ts";

const podWith = (text: string): ReadonlyPod =>
  ({
    metadata: { name: "p", annotations: { [IN_PLACE_STATE_ANNOTATION]: text } },
    spec: { containers: [] },
  }) as unknown as ReadonlyPod;

const unreadable: Record<string, string> = {
  "text that is not JSON": "{",
  "a list": "[]",
  "a set whose state is a string": '{"a":"b"}',
  "containers that are a list": '{"a":{"lastContainerStatuses":["proxy"]}}',
  "a container that is a number": '{"a":{"lastContainerStatuses":{"proxy":1}}}',
  "an image ID that is an object": '{"a":{"lastContainerStatuses":{"proxy":{"imageID":{}}}}}',
};
for (const [what, text] of Object.entries(unreadable)) {
  test(`rejects ${what} in the annotation of a pod`, () => {
    expect(readUpdateStates(podWith(text))).toBeUndefined();
  });
}

test("accepts null as absent", () => {
  const states = readUpdateStates(
    podWith(
      '{"a":{"lastContainerStatuses":{"proxy":null}},"b":{"lastContainerStatuses":null,"nextContainerImages":null}}',
    ),
  );

  expect(states?.get("a")?.lastContainerStatuses).toEqual({ proxy: {} });
  expect(states && formatUpdateStates(states)).toBe(
    '{"a":{"lastContainerStatuses":{"proxy":{}}},"b":{"lastContainerStatuses":null}}',
  );
});
