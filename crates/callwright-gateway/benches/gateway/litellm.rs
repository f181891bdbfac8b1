//! Compares the gateway with litellm's proxy if it is installed: at `target/litellm/bin/litellm`, or where
//! `CALLWRIGHT_LITELLM` says.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) struct Litellm {
    child: Child,
    pub(crate) port: u16,
}

impl Litellm {
    /// Starts it in front of an API; `None` if it is not installed.
    pub(crate) async fn start(api: u16) -> Option<Self> {
        let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
        let program = std::env::var_os("CALLWRIGHT_LITELLM")
            .map_or_else(|| target.join("litellm/bin/litellm"), PathBuf::from);
        if !program.exists() {
            return None;
        }
        let config = target.join("litellm-bench.yaml");
        let model = format!(
            "model_list:\n  - model_name: m\n    litellm_params:\n      model: openai/m\n      api_base: http://127.0.0.1:{api}/v1\n      api_key: x\n\
             general_settings:\n  dangerously_permit_weak_or_unset_master_key: true\n"
        );
        std::fs::write(&config, model).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let child = Command::new(program)
            .args([
                "--host",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--num_workers",
                "1",
            ])
            .arg("--config")
            .arg(config)
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("LITELLM_LOG", "ERROR")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let litellm = Litellm { child, port };
        // Its imports take half a minute, longer on a busy machine.
        for _ in 0..300 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                tokio::time::sleep(Duration::from_secs(2)).await;
                return Some(litellm);
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        println!("litellm did not start");
        None
    }

    /// The CPU time of the process so far, in microseconds: all of its threads.
    pub(crate) fn cpu(&self) -> f64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let nanoseconds = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            stat.split(' ')
                .next()
                .and_then(|first| first.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        tasks.flatten().map(nanoseconds).sum::<f64>() / 1_000.0
    }
}

impl Drop for Litellm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
