import { render } from "preact";
import { App } from "./app.tsx";
import { loadLanguage } from "./i18n.ts";
import { applyTheme } from "./theme.ts";
import "./styles.css";

applyTheme();
const root = document.getElementById("app");
if (root) void loadLanguage().then(() => render(<App />, root));
