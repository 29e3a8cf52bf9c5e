import { expect, test } from "vitest";
import { readGoPackage } from "./go-types.ts";
import { buildTables } from "./tables.ts";
import { renderTypes } from "./typescript.ts";

const source = `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

/* A comment of
   several lines. */

// +enum
type Mode string

const (
	// On is on.
	ModeOn  Mode = "On"
	ModeOff Mode = "Off"
)

// +structType=atomic
type Inner struct {
	Port *intstr.IntOrString \`json:"port,omitempty" protobuf:"bytes,1,opt,name=port"\`
}

type Empty struct{}

// Lease is a thing.
type Lease struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	metav1.ObjectMeta \`json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"\`
	Inner \`json:",inline" protobuf:"bytes,2,opt,name=inner"\`
	// A sentence that is not taken over.
	// +optional
	// +default="On"
	Mode Mode \`json:"mode,omitempty" protobuf:"bytes,3,opt,name=mode,casttype=Mode"\`
	// +listType=map
	// +listMapKey=a
	// +listMapKey=b
	List []Inner \`json:"list" patchStrategy:"merge" patchMergeKey:"a" protobuf:"bytes,4,rep,name=list"\`
	Labels map[string]string \`json:"labels,omitempty" protobuf:"bytes,5,rep,name=labels"\`
	Nothing *Empty \`json:"nothing,omitempty" protobuf:"bytes,6,opt,name=nothing"\`
	Hidden string \`json:"-"\`
}
`;

test("reads structs, named types, tags, markers and constants", () => {
  const { types, enums } = readGoPackage([source]);

  expect([...types.keys()]).toEqual(["Mode", "Inner", "Empty", "Lease"]);
  expect(enums.get("Mode")).toEqual(["On", "Off"]);
  expect(types.get("Lease")?.fields?.find(({ name }) => name === "List")).toEqual({
    name: "List",
    type: "[]Inner",
    tags: { json: "list", patchStrategy: "merge", patchMergeKey: "a", protobuf: "bytes,4,rep,name=list" },
    markers: [
      ["listType", "map"],
      ["listMapKey", "a"],
      ["listMapKey", "b"],
    ],
  });
});

test("writes one line of words per field", () => {
  const meta = readGoPackage([
    'package v1\n\ntype ObjectMeta struct {\n\tName string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`\n}\n',
  ]);
  const lease = readGoPackage([source]);

  const tables = buildTables({ of: (path) => (path.endsWith("meta/v1") ? meta : lease) }, ["coordination-v1"]);

  expect(tables.get("coordination-v1")?.["Lease"]).toEqual({
    apiVersion: "string 0 optional",
    kind: "string 0 optional",
    metadata: "meta-v1.ObjectMeta 1 optional always",
    ".Inner": "Inner 2",
    mode: 'string 3 optional enum=On|Off default="On"',
    list: "[]Inner 4 always patch=merge:a list=map:a,b",
    labels: "map:string 5 optional",
    nothing: "*Empty 6 optional",
  });
  expect(tables.get("coordination-v1")?.["Inner"]).toEqual({ "": "map=atomic", port: "*IntOrString 1 optional" });
  expect(tables.get("meta-v1")).toEqual({ ObjectMeta: { name: "string 1 optional" } });
});

test("names a type that it cannot find", () => {
  const broken = readGoPackage(['package v1\n\ntype Lease struct {\n\tX Missing `json:"x"`\n}\n']);

  expect(() => buildTables({ of: () => broken }, ["coordination-v1"])).toThrow("declares no Missing");
});

test("types of one name from several packages get names of their own", () => {
  const text = renderTypes("m", [], {
    Spec: { a: "first-v1.Spec 1 optional", b: "second-v1.Spec 2 optional", c: "Spec 3 optional" },
  });

  expect(text).toContain('import type { Spec as BaseSpec } from "./first-v1.ts";');
  expect(text).toContain('import type { Spec as SecondV1Spec } from "./second-v1.ts";');
  expect(text).toContain("a?: BaseSpec;\n  b?: SecondV1Spec;\n  c?: Spec;");
});
