/** The manifest of one object, with the plan of what a change would do. */
import { useMemo, useState } from "preact/hooks";
import { formatYaml } from "../../src/yaml.ts";
import { manifestOf } from "../../src/release.ts";
import { t } from "../i18n.ts";
import { ApplyPanel } from "../parts/apply-panel.tsx";
import type { TabProps } from "./tab.ts";

export function EditTab({ view }: TabProps) {
  const current = useMemo(() => formatYaml(manifestOf(view.template)), [view.template]);
  const [edited, setEdited] = useState<{ from: string; text: string } | undefined>(undefined);
  const text = edited?.text ?? current;
  const isOutdated = edited !== undefined && edited.from !== current;
  return (
    <ApplyPanel
      text={text}
      namespace={view.ref.namespace}
      onText={(next) => setEdited(next === current ? undefined : { from: edited?.from ?? current, text: next })}
      applied={() => setEdited(undefined)}
    >
      <h2>{t("Manifest on the hub")}</h2>
      {edited && (
        <button type="button" onClick={() => setEdited(undefined)}>
          {t("Discard my changes")}
        </button>
      )}
      {isOutdated && (
        <span class="busy">
          {t("Another writer changed it meanwhile; applying keeps the fields that you did not touch.")}
        </span>
      )}
    </ApplyPanel>
  );
}
