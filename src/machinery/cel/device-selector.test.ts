import { expect, test } from "vitest";
import { deviceSelectorProblem } from "./device-selector.ts";

const usable = [
  "device.allowMultipleAllocations",
  'device.attributes["a.b"].c',
  'device.attributes["a.b"].?c.orValue(false)',
  'cel.bind(d, device.attributes["a.b"], d.x && d.y == 2)',
  '"a.b" in device.attributes',
];
for (const expression of usable) {
  test(`usable: ${expression}`, () => {
    expect(deviceSelectorProblem(expression)).toBeUndefined();
  });
}

const unusable: Record<string, [expression: string, detail: string]> = {
  "what is neither true nor false": ["device.driver", "must evaluate to bool or the unknown type, not string"],
  "what hides its type": ["dyn(true)", "must evaluate to bool or the unknown type, not dyn"],
  "a field that devices do not have": [
    "device.foo",
    "compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n | device.foo\n | ......^",
  ],
  "a name that is none": [
    "cel.bind(1, 2, true)",
    "compilation failed: ERROR: <input>:1:10: cel.bind() variable names must be simple identifiers\n | cel.bind(1, 2, true)\n | .........^",
  ],
};
for (const [what, [expression, detail]] of Object.entries(unusable)) {
  test(`unusable: ${what}`, () => {
    expect(deviceSelectorProblem(expression)).toEqual({ kind: "wrong", detail });
  });
}

test("what could cost too much is told apart from what is wrong", () => {
  const nested =
    "device.attributes.all(k, device.attributes[k].all(l, device.attributes[k].all(m, device.attributes[k].all(n, device.attributes[k].all(o, true)))))";

  expect(deviceSelectorProblem(nested)).toEqual({ kind: "costly" });
});
