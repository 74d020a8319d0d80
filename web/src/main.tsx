import { render } from "preact";
import { arrive } from "./state/session";
import { start } from "./state/hub";
import { App } from "./ui/app";
import "./style/base.css";
import "./style/shell.css";
import "./style/talk.css";
import "./style/views.css";
import "./style/cockpit.css";

arrive();
start();
render(<App />, document.getElementById("app")!);
