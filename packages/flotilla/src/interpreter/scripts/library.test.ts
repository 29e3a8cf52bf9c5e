/** Library results that are easy to get wrong. Each was compared with gopher-lua 1.1.1. */
import { expect, test } from "vitest";
import { compileKubeScript } from "./kube-script.ts";

const texts: Record<string, string> = {
  // Rounds an exact half to even.
  "string.format('%.3e', 16605)": "1.660e+04",
  "string.format('%.0f', 2.5)": "2",
  "string.format('%.1f', 0.25)": "0.2",
  "string.format('%.2g', 2.25)": "2.2",
  // Zeros precede a text, and are placed between the sign and the digits of a number.
  "string.format('%05s', 'x')": "0000x",
  "string.format('%05d', -7)": "-0007",
  "string.format('%05t', true)": "0true",
  // A mismatched verb prints the value with the given flags.
  "string.format('%05c', 'X')": "%!c(string=0000X)",
  "string.format('%5y', true)": "%!y(lua.LBool= true)",
  "string.format('%-8.3u', '105.')": "%!u(string=105     )",
  "string.format('%+p', 'x')": "%!p(lua.LString=x)",
  "string.format('%#x', 'ab')": "0x6162",
  // Powers are computed by squaring.
  "1.1 ^ 10": "2.593742460100002",
  "0.9 ^ 55": "0.0030432527221704616",
  "10 ^ 23": "1e+23",
  "10 ^ 308": "1.0000000000000006e+308",
  "2 ^ -1074": "5e-324",
  "(-8) ^ (1 / 3)": "NaN",
  "math.ldexp(0, 5000)": "0",
  "math.ldexp(1 / 0, -5000)": "+Inf",
  // Non-integral numbers become the smallest integer, which becomes the largest when counted from 0.
  "string.sub('abc', 1 / 0)": "",
  "tostring(table.remove({1, 2}, 0 / 0))": "nil",
  // Invalid bytes are replaced when the case changes.
  "string.upper('\\255a')": "\ufffdA",
};

for (const [expression, want] of Object.entries(texts)) {
  test(`${expression} is ${want === "" ? "empty" : want}`, () => {
    const [result] = compileKubeScript(`function F() return tostring((${expression})) end`).call("F", []);

    expect(result?.text).toBe(want);
  });
}

const failures: Record<string, { body: string; message: string }> = {
  "a set that ends with its escape character": { body: "return ('x'):find('[%')", message: "unexpected EOS at EOS" },
  "an unterminated set": { body: "return ('x'):find('[a')", message: "unexpected EOS at 1" },
  "a field of a pod template with a wrong type": {
    body: "return require('kube').accuratePodRequirements({spec = {containers = {{name = 'a', image = 5}}}})",
    message: "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string",
  },
  "a pod template that is a list": {
    body: "return require('kube').accuratePodRequirements({1})",
    message: "json: cannot unmarshal array into Go value of type v1.PodTemplateSpec",
  },
};

for (const [what, { body, message }] of Object.entries(failures)) {
  test(`${what} raises an error`, () => {
    expect(() => compileKubeScript(`function F() ${body} end`).call("F", [])).toThrow(message);
  });
}
