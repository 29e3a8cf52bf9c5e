import { describe, expect, test } from "vitest";
import { compileGoTemplate } from "./go-template.ts";

const object = {
  metadata: { name: "web", labels: { tier: "front", app: "web" } },
  spec: { replicas: 3, containers: [{ name: "a", image: "a:1" }, { name: "b" }] },
};

describe("a Go template prints what kubectl prints", () => {
  const cases: Record<string, string> = {
    "{{.metadata.name}}": "web",
    "{{.metadata.name}} has {{.spec.replicas}}": "web has 3",
    "{{.metadata.none}}": "<no value>",
    "{{range .spec.containers}}{{.name}} {{end}}": "a b ",
    '{{range $i, $c := .spec.containers}}{{$i}}={{$c.name}}{{"\\n"}}{{end}}': "0=a\n1=b\n",
    "{{range $k, $v := .metadata.labels}}{{$k}}:{{$v}};{{end}}": "app:web;tier:front;",
    "{{range .none}}x{{else}}nothing{{end}}": "nothing",
    '{{if eq .metadata.name "web"}}yes{{else}}no{{end}}': "yes",
    "{{if and .spec (gt .spec.replicas 5)}}many{{else if .spec}}few{{else}}none{{end}}": "few",
    "{{with .metadata}}{{.name}} of {{$.spec.replicas}}{{end}}": "web of 3",
    "{{index .spec.containers 1}}": "map[name:b]",
    '{{index .metadata.labels "app"}}': "web",
    '{{printf "%-5s|%3d" .metadata.name .spec.replicas}}': "web  |  3",
    '{{.metadata.name | printf "%q"}}': '"web"',
    "{{len .spec.containers}}": "2",
    "a {{- .metadata.name -}} b": "awebb",
    "{{/* a comment */}}x": "x",
    "{{$n := .metadata.name}}{{$n}}": "web",
    '{{"{{"}}': "{{",
  };
  for (const [template, want] of Object.entries(cases))
    test(template, () => expect(compileGoTemplate(template)(object)).toBe(want));
});

describe("a template is rejected with the reason", () => {
  const cases: Record<string, string> = {
    "{{range .a}}x": "a block has no {{end}}",
    "{{.a": "an action is not closed",
    "{{end}}": "ends no block",
    "{{frobnicate .a}}": "'frobnicate' is not a function",
    "{{.a | .b}}": "is not a function",
    "{{(.a}}": "a parenthesis is not closed",
    "{{if .a}}x{{else}}y{{else}}z{{end}}": "two {{else}}",
  };
  for (const [template, want] of Object.entries(cases))
    test(template, () => expect(() => compileGoTemplate(template)).toThrow(want));
});

test("fields of the prototype are not reached", () => {
  expect(compileGoTemplate("{{.constructor}}")({})).toBe("<no value>");
});
