;;; What a user of Emacs sees and does, played without a screen; the answers go as JSON to $PALLAS_RESULT.  -*- lexical-binding: t -*-

(require 'json)

(defun pallas-await (what get)
  "Wait until GET gives something, and return that; WHAT it is, for the error."
  (let ((end (+ (float-time) 120)) found)
    (while (and (not (setq found (funcall get))) (< (float-time) end))
      (accept-process-output nil 0.05))
    (or found (error "Waited in vain for %s" what))))

(defun pallas-findings (source)
  "Flymake's diagnostics from SOURCE, as eglot words them."
  (seq-filter (lambda (each) (string-prefix-p source (flymake-diagnostic-text each)))
              (flymake-diagnostics)))

(defun pallas-hover ()
  "What eldoc is given for the place at point."
  (let (text)
    (eglot-hover-eldoc-function (lambda (found &rest _) (setq text found)))
    (pallas-await "the hover" (lambda () text))))

(defun pallas-pick (title)
  "Choose the code action at point whose name begins with TITLE; return all names."
  (let (titles)
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ items &rest _)
                 (setq titles (mapcar #'car items))
                 (seq-find (lambda (each) (string-prefix-p title each)) titles)))
              (last-nonmenu-event t))
      (call-interactively #'eglot-code-actions))
    titles))

(defun pallas-play (kernel)
  "Open KERNEL, look, ask JAX where PALLAS_CONFIRM is set, fix; the answers as an alist."
  (find-file kernel)
  (unless (eglot-current-server) ; without a screen, there is no idle moment for `eglot-ensure' to wait for
    (apply #'eglot (eglot--guess-contact)))
  (flymake-start)
  (let* ((finding (car (pallas-await "a finding" (lambda () (pallas-findings "pallas ")))))
         (under (buffer-substring (flymake-diagnostic-beg finding) (flymake-diagnostic-end finding)))
         (message (flymake-diagnostic-text finding))
         hover verdict titles)
    (goto-char (flymake-diagnostic-beg finding))
    (search-backward "async_store_smem")
    (setq hover (pallas-hover))
    (when (getenv "PALLAS_CONFIRM")
      (pallas-pick "Confirm with JAX")
      (setq verdict (flymake-diagnostic-text
                     (car (pallas-await "the verdict" (lambda () (pallas-findings "pallas confirm")))))))
    (setq titles (pallas-pick "Round TILE_ROWS up to 64"))
    (eglot--signal-textDocument/didChange) ; otherwise sent when Emacs is idle, which it never is without a screen
    (pallas-await "the findings to go" (lambda () (null (flymake-diagnostics))))
    `((message . ,message) (under . ,under) (hover . ,(substring-no-properties hover))
      (verdict . ,verdict) (titles . ,(vconcat titles))
      (text . ,(buffer-substring-no-properties (point-min) (point-max))))))

(let ((result (condition-case error
                  `((result . ,(pallas-play (getenv "PALLAS_KERNEL"))))
                (error `((error . ,(error-message-string error)))))))
  (with-temp-file (getenv "PALLAS_RESULT")
    (set-buffer-file-coding-system 'utf-8)
    (insert (json-encode result)))
  (let ((kill-emacs-hook nil) (confirm-kill-processes nil))
    (kill-emacs 0)))
