import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createCustomizationLevel } from "./customization/level.ts";
import { makeCustomization } from "./customization/test-customization.ts";
import { createInterpreter, knownLevels } from "./interpreter.ts";
import { renderRetainedFields } from "./retained-fields.ts";
import { createLuaEngine } from "./scripts/index.ts";

const template = (): KubernetesObject =>
  ({
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    metadata: { name: "web", namespace: "shop" },
    spec: { replicas: 10, updateStrategy: { partition: "50%" } },
  }) as KubernetesObject;

const retaining = (body: string): string => `function Retain(desiredObj, observedObj)\n${body}\nreturn desiredObj\nend`;

async function takenBy(body: string): Promise<string> {
  const level = createCustomizationLevel({ engine: createLuaEngine({ clock: createFakeClock() }) });
  const interpreter = createInterpreter([level, ...knownLevels]);
  level.set(
    makeCustomization(
      "mine",
      { retention: retaining(body) },
      {
        apiVersion: "apps.kruise.io/v1alpha1",
        kind: "CloneSet",
      },
    ),
  );
  return renderRetainedFields(await interpreter.retainedFields(template()));
}

const cases: Record<string, { body: string; want: string }> = {
  "a rule that keeps the strategy leaves all of it to the member": {
    body: "desiredObj.spec.updateStrategy = observedObj.spec.updateStrategy",
    want: "leaves spec.updateStrategy to the members",
  },
  "a rule that keeps one field leaves only that": {
    body: "desiredObj.spec['updateStrategy']['part' .. 'ition'] = observedObj.spec.updateStrategy.partition",
    want: "leaves spec.updateStrategy.partition to the members",
  },
  "a rule that sets a field itself takes it from the hub as well": {
    body: "desiredObj.spec.updateStrategy.partition = 0",
    want: "sets spec.updateStrategy.partition on the members itself",
  },
  "a rule that keeps one field and sets another does both": {
    body: "desiredObj.spec.replicas = 5 desiredObj.spec.updateStrategy.type = observedObj.spec.updateStrategy.type",
    want: "leaves spec.updateStrategy.type to the members and sets spec.replicas on the members itself",
  },
  "a rule that sets the whole strategy does not leave it to the members": {
    body: "desiredObj.spec.updateStrategy = { partition = 0 }",
    want: "sets spec.updateStrategy on the members itself",
  },
  "a rule that keeps the larger value is found, although it keeps the hub's value otherwise": {
    body: "desiredObj.spec.replicas = math.max(desiredObj.spec.replicas, observedObj.spec.replicas)",
    want: "leaves spec.replicas to the members",
  },
  "a rule that keeps another field leaves nothing of a release": {
    body: "desiredObj.spec.minReadySeconds = observedObj.spec.minReadySeconds",
    want: "",
  },
};
test.each(Object.entries(cases))("%s", async (_name, { body, want }) => {
  expect(await takenBy(body)).toEqual(want);
});

test("rules are run once for a template, and again when they change", async () => {
  const level = createCustomizationLevel({ engine: createLuaEngine({ clock: createFakeClock() }) });
  const interpreter = createInterpreter([level, ...knownLevels]);
  const target = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" };
  const object = template();
  const keep = (field: string): void =>
    level.set(
      makeCustomization(
        "mine",
        { retention: retaining(`desiredObj.spec.${field} = observedObj.spec.${field}`) },
        target,
      ),
    );

  expect(await interpreter.retainedFields(object)).toEqual([]);
  keep("replicas");
  const found = interpreter.retainedFields(object);
  expect(await found).toEqual([{ field: "replicas", path: "spec.replicas", isSet: false }]);
  expect(interpreter.retainedFields(object)).toBe(found);
  expect(interpreter.ownerOf("retain", object)).toBe("ResourceInterpreterCustomization mine");
  keep("minReadySeconds");
  expect(await interpreter.retainedFields(object)).toEqual([]);
  level.remove("mine");
  expect(interpreter.ownerOf("retain", object)).toBeUndefined();
});
