//! A headless browser, controlled over a pipe with the protocol of its developer tools.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value as Json, json};

/// Only for a browser that hangs; it normally answers within milliseconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// One browser with one page.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Json>,
    /// Messages that arrived while waiting for another one.
    pub(crate) events: Vec<Json>,
    next_id: u64,
    session: Option<String>,
    folder: PathBuf,
}

impl Browser {
    /// Starts Chromium. Prints a notice and returns `None` if it is not installed.
    pub(crate) fn start(name: &str) -> Option<Browser> {
        let known = Command::new("chromium")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !known.is_ok_and(|status| status.success()) {
            eprintln!("skipped: there is no `chromium` (Debian's package of that name)");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser_{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for the profile");
        // The protocol uses file descriptors 3 and 4, which only a shell can set up.
        let script = r#"exec chromium "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
        let mut process = Command::new("sh")
            .args(["-c", script, "sh"])
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--no-first-run",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--hide-scrollbars",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.join("profile").display()
            ))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let to = process.stdin.take().expect("a pipe");
        let from = process.stdout.take().expect("a pipe");
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            // Messages are terminated by a zero byte.
            for message in BufReader::new(from).split(0) {
                let Ok(message) = message else { break };
                let Ok(message) = serde_json::from_slice(&message) else {
                    continue;
                };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Browser {
            process,
            to,
            from: receiver,
            events: Vec::new(),
            next_id: 0,
            session: None,
            folder,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            &json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the protocol and waits for its result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, parameters: &Json) -> Json {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.receive(method);
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    #[track_caller]
    fn receive(&self, what: &str) -> Json {
        match self.from.recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(error) => panic!("the browser does not answer to {what}: {error}"),
        }
    }

    /// Writes a page to disk and opens it from there.
    #[track_caller]
    pub(crate) fn open(&mut self, page: &str) {
        let file = self.folder.join("report.html");
        std::fs::write(&file, page).expect("the folder can be written");
        self.visit(&format!("file://{}", file.display()));
    }

    /// Opens the page at an address.
    #[track_caller]
    pub(crate) fn visit(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", &json!({"url": url}));
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let event = self.receive("opening a page");
            self.events.push(event);
        }
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(crate) fn value(&mut self, expression: &str) -> Json {
        let result = self.call(
            "Runtime.evaluate",
            &json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].clone()
    }

    /// Presses a key as a user would. `text` is what it types, if anything.
    pub(crate) fn press(&mut self, key: &str, text: &str) {
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Types a word.
    pub(crate) fn write(&mut self, word: &str) {
        for character in word.chars() {
            let text = character.to_string();
            self.press(&text, &text);
        }
    }

    /// Sets the window width and the theme.
    pub(crate) fn look(&mut self, width: u32, theme: &str) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
        let theme = json!([{"name": "prefers-color-scheme", "value": theme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": theme}));
    }

    /// Takes a screenshot of the whole page if `CALLWRIGHT_TEST_SCREENSHOTS` names a folder for it.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("CALLWRIGHT_TEST_SCREENSHOTS") else {
            return;
        };
        let shot = self.call(
            "Page.captureScreenshot",
            &json!({"format": "png", "captureBeyondViewport": true}),
        );
        let file = Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(file, decode(&shot["data"])).expect("the folder can be written");
    }

    /// The page as a PDF.
    pub(crate) fn print(&mut self) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", &json!({"preferCSSPageSize": true}));
        decode(&printed["data"])
    }

    /// What the page reported: errors, warnings, and violations of its content security policy.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.events
            .iter()
            .filter(|event| {
                let method = event["method"].as_str().unwrap_or_default();
                matches!(
                    method,
                    "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded"
                )
            })
            .map(ToString::to_string)
            .collect()
    }

    /// Everything that was loaded, including the page itself.
    pub(crate) fn loaded(&self) -> Vec<String> {
        self.events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent")
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .map(str::to_owned)
            .collect()
    }
}

fn decode(data: &Json) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD
        .decode(data.as_str().expect("data"))
        .expect("base64")
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
