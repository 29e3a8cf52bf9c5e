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
  test(`accepts ${expression}`, () => {
    expect(deviceSelectorProblem(expression)).toBeUndefined();
  });
}

const unusable: Record<string, [expression: string, detail: string]> = {
  "a result that is not a bool": ["device.driver", "must evaluate to bool or the unknown type, not string"],
  "an expression with a dynamic type": ["dyn(true)", "must evaluate to bool or the unknown type, not dyn"],
  "an unknown field of device": [
    "device.foo",
    "compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n | device.foo\n | ......^",
  ],
  "an undeclared name": [
    "cel.bind(1, 2, true)",
    "compilation failed: ERROR: <input>:1:10: cel.bind() variable names must be simple identifiers\n | cel.bind(1, 2, true)\n | .........^",
  ],
};
for (const [what, [expression, detail]] of Object.entries(unusable)) {
  test(`rejects ${what}`, () => {
    expect(deviceSelectorProblem(expression)).toEqual({ kind: "wrong", detail });
  });
}

test("an expression that could cost too much is distinguished from an invalid one", () => {
  const nested =
    "device.attributes.all(k, device.attributes[k].all(l, device.attributes[k].all(m, device.attributes[k].all(n, device.attributes[k].all(o, true)))))";

  expect(deviceSelectorProblem(nested)).toEqual({ kind: "costly" });
});
